#!/usr/bin/env bash
# base.sh [--no-pull]: make sure that debian:trixie-slim, which all our images start from, exists.
#
# Where:  called by images.sh; needs an engine that answers (engine.sh start). Pulling works anywhere;
#         without a registry the image is made by debootstrap, which needs Linux and root.
# Why:    lockpick must also run where no registry can be reached but a Debian mirror can.
# Steps:  present → nothing; else docker pull, bounded; else debootstrap, slimmed as the official
#         image is, and docker import with the label lockpick.base=debootstrap.
# Environment: DEBIAN_MIRROR (http://deb.debian.org/debian), DEBIAN_SECURITY_MIRROR (Debian's own, and
#         none when only DEBIAN_MIRROR is set): both are written into a base made here, so the images
#         built on it use them too. LOCKPICK_PULL_SECONDS (60).
# Result: 0 = present, 64 = wrong arguments, 69 = cannot be had. Progress on stderr, nothing on stdout.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly image=debian:trixie-slim
readonly suite=trixie
readonly mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
if [ -z "${DEBIAN_MIRROR:-}" ]; then
  readonly security_mirror=${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security}
else
  readonly security_mirror=${DEBIAN_SECURITY_MIRROR:-}
fi
readonly pull_seconds=${LOCKPICK_PULL_SECONDS:-60}

say() { printf 'base: %s\n' "$*" >&2; }
unavailable() { say "$*"; exit 69; }

# macOS has no `timeout`; there the engine's own limits have to do.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi
}

present() { bounded 20 docker image inspect "$image" >/dev/null 2>&1; }

require_engine() {
  command -v docker >/dev/null || unavailable "no docker command: 'docker/engine.sh start' can install and start an engine"
  local complaint
  if complaint=$(bounded 20 docker version --format '{{.Server.Version}}' 2>&1 >/dev/null); then return 0; fi
  case "$complaint" in
    *"permission denied"*) unavailable "an engine runs, but user $(id -un) may not talk to it: use sudo or join its group" ;;
    *) unavailable "no engine answers (${complaint:-timed out}): 'docker/engine.sh start' can start one" ;;
  esac
}

pull() {
  local complaint started=$SECONDS
  say "pulling $image (at most $pull_seconds s)"
  if complaint=$(bounded "$pull_seconds" docker pull -q "$image" 2>&1); then
    say "pulled in $((SECONDS - started)) s"
  else
    say "could not pull: ${complaint:-no answer within $pull_seconds s}"
    return 1
  fi
}

require_debootstrap() {
  [ "$(uname -s)" = Linux ] || unavailable "$image can be neither pulled nor made here (debootstrap needs Linux)"
  [ "$(id -u)" = 0 ] ||
    unavailable "$image could not be pulled, and making it needs root: run 'sudo docker/base.sh' once"
  local engine machine
  engine=$(bounded 20 docker info --format '{{.OSType}}/{{.Architecture}}')
  machine=linux/$(uname -m)
  [ "$engine" = "$machine" ] || unavailable "$image could not be pulled, and one made here ($machine) would not fit the engine ($engine)"
  if ! command -v debootstrap >/dev/null || [ ! -e "$keyring" ]; then
    command -v apt-get >/dev/null ||
      unavailable "$image could not be pulled, and debootstrap with Debian's keyring, which could make it, is not installed"
    say "installing debootstrap"
    apt-get update >&2 || say "apt-get update complained; trying to install all the same"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap debian-archive-keyring >&2 ||
      unavailable "apt-get could not install debootstrap"
  fi
}
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg

root=
# debootstrap leaves /proc and /sys mounted in its target when it is interrupted.
remove_root() {
  [ -n "$root" ] || return 0
  umount -l "$root/tree/proc" "$root/tree/sys" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap remove_root EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# One line for each phase instead of one for each of some hundred packages.
phases() {
  local line phase last=
  while IFS= read -r line; do
    case "$line" in
      *Retrieving\ *) phase="fetching packages" ;;
      *Validating\ *) continue ;;
      *Extracting\ *) phase="extracting packages" ;;
      *Unpacking\ *) phase="unpacking packages" ;;
      *Configuring\ *) phase="configuring packages" ;;
      *) phase=${line#I: } ;;
    esac
    [ "$phase" = "$last" ] || say "  $phase"
    last=$phase
  done
}

make_tree() {
  local tree=$1 script=
  # An older debootstrap does not know the suite's name; every recent suite is built like sid.
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/sid
  # shellcheck disable=SC2086
  LC_ALL=C debootstrap --variant=minbase --keyring="$keyring" --force-check-gpg "$suite" "$tree" "$mirror" $script 2>&1 </dev/null |
    phases || {
    [ ! -e "$tree/debootstrap/debootstrap.log" ] || tail -n 20 "$tree/debootstrap/debootstrap.log" >&2
    unavailable "debootstrap $suite from $mirror failed"
  }
}

configure_tree() {
  local tree=$1
  {
    printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates"
    [ -z "$security_mirror" ] || printf 'deb %s %s main\n' "$security_mirror" "$suite-security"
  } >"$tree/etc/apt/sources.list"
  # A package's install script must not start its server inside a build.
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod 755 "$tree/usr/sbin/policy-rc.d"
  # What is installed later stays as slim as what is removed below (licences are kept).
  cat >"$tree/etc/dpkg/dpkg.cfg.d/slim" <<'CONFIG'
force-unsafe-io
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/lintian/*
CONFIG
  printf 'Acquire::Languages "none";\nAcquire::Retries "3";\n' >"$tree/etc/apt/apt.conf.d/slim"
}

slim_tree() {
  local tree=$1
  find "$tree/usr/share/doc" ! -type d ! -name copyright -delete
  find "$tree/usr/share/doc" -depth -type d -empty -delete
  rm -rf "$tree"/usr/share/{man,info,locale,lintian}/* \
    "$tree"/var/lib/apt/lists/* "$tree"/var/cache/apt/* "$tree"/var/cache/ldconfig/* \
    "$tree"/var/cache/debconf/*-old "$tree"/var/lib/dpkg/*-old "$tree"/etc/*- "$tree"/tmp/* "$tree"/run/*
  find "$tree/var/log" -type f -delete
  # debootstrap copies these from the machine it runs on.
  rm -f "$tree/etc/resolv.conf" "$tree/etc/hostname"
  : >"$tree/etc/machine-id"
}

make() {
  local started=$SECONDS
  # Not /tmp: it is often mounted nodev or held in memory.
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/lockpick-base.XXXXXX")
  mkdir -m 755 "$root/tree"
  say "making $image by debootstrap from $mirror"
  make_tree "$root/tree"
  configure_tree "$root/tree"
  slim_tree "$root/tree"
  say "importing"
  tar -C "$root/tree" --numeric-owner --one-file-system -c . |
    docker import -c 'CMD ["bash"]' -c 'LABEL lockpick.base=debootstrap' -m "debootstrap minbase $suite" - "$image" >/dev/null ||
    unavailable "docker import failed"
  say "made in $((SECONDS - started)) s"
}

pull_allowed=yes
case "${1:-}" in
  '') ;;
  --no-pull) pull_allowed=no ;;
  *)
    echo "usage: base.sh [--no-pull]" >&2
    exit 64
    ;;
esac

if present; then exit 0; fi
require_engine
# Two at once: the second waits and then finds it present.
if command -v flock >/dev/null; then
  exec 8<"$here/base.sh"
  flock 8
  if present; then exit 0; fi
fi
if [ $pull_allowed = yes ] && pull; then exit 0; fi
require_debootstrap
make
