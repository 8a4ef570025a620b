#!/usr/bin/env bash
# images.sh [--check] [--keep-old] [name]…: build what is missing.
#
# Where:  called by the harness before a run, and by hand. Needs an engine that answers (engine.sh
#         start); works on Linux and macOS (bash 3.2).
# Why:    a tag is a digest of everything the image is made from, so "the tag exists" means "nothing to
#         do", and no run ever uses an image that does not fit its checkout.
# Stdout: one line per image, name=reference, and nothing else; progress goes to stderr.
#         --check builds nothing: the same lines with " present" or " missing" at the end.
# Result: 0 = all present, 1 = --check and something is missing, 64 = wrong arguments, 69 = no engine,
#         no base image, no Node binary, or a build failed (its last 30 lines are on stderr).
# After a build older tags of the same image are removed unless --keep-old.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# Every folder here with a Dockerfile is an image of its name.
all=$(cd "$here" && printf '%s ' */Dockerfile)
all=${all//\/Dockerfile/}
readonly all=${all% }
readonly base=debian:trixie-slim

say() { printf 'images: %s\n' "$*" >&2; }
unavailable() { say "$*"; exit 69; }

usage() {
  echo "usage: images.sh [--check] [--keep-old] [name]…, where a name is one of: $all" >&2
  exit 64
}

check=no keep_old=no names=''
for argument in "$@"; do
  case "$argument" in
    --check) check=yes ;;
    --keep-old) keep_old=yes ;;
    -*)
      say "no such option: $argument"
      usage
      ;;
    *)
      case " $all " in
        *" $argument "*) names="$names $argument" ;;
        *)
          say "no such image: '$argument'"
          usage
          ;;
      esac
      ;;
  esac
done
names=${names:-$all}
readonly check keep_old names

# macOS has no `timeout`, no `sha256sum` and no `flock`.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi
}
if command -v sha256sum >/dev/null; then
  sha256() { sha256sum; }
else
  sha256() { shasum -a 256; }
fi

# Sets `known`: one line "repository:tag id" per image of ours, and the base. The only question put to
# the engine when everything is present.
list_known() {
  local complaint
  command -v docker >/dev/null || unavailable "no docker command: 'docker/engine.sh start' can install and start an engine (on macOS: Docker Desktop, Colima)"
  complaint=$(mktemp)
  if ! known=$(bounded 30 docker image ls --no-trunc --filter "reference=lockpick/*" --filter "reference=$base" \
    --format '{{.Repository}}:{{.Tag}} {{.ID}}' 2>"$complaint"); then
    known=$(cat "$complaint")
    rm -f "$complaint"
    case "$known" in
      *"permission denied"*) unavailable "an engine runs, but user $(id -un) may not talk to it: join its group ('sudo usermod -aG docker $(id -un)', then log in again) or use sudo" ;;
      '') unavailable "the engine did not answer within 30 s" ;;
      *) unavailable "no engine answers ($known): 'docker/engine.sh start' can start one" ;;
    esac
  fi
  rm -f "$complaint"
}

id_of() {
  local reference id
  while read -r reference id; do
    [ "$reference" != "$1" ] || printf '%s\n' "$id"
  done <<<"$known"
}

# The exact version of node-linux-<arch> that package.json asks for.
node_version() {
  sed -n "s/^ *\"node-linux-$1\": *\"\([0-9][0-9.]*\)\".*/\1/p" "$here/../package.json" 2>/dev/null || true
}

# 12 hex digits over names and contents of the image's folder, the base image's id and, for the client,
# the Node versions. The architecture need not be in it: an engine holds what was built on it.
digest_of() {
  local name=$1 base_id=$2
  {
    cd "$here/$name"
    find . -type f ! -name '.*' | LC_ALL=C sort | while IFS= read -r file; do
      printf '%s\n' "$file"
      cat "$file"
    done
    printf 'base %s\n' "$base_id"
    if [ "$name" = client ]; then printf 'node x64 %s arm64 %s\n' "$(node_version x64)" "$(node_version arm64)"; fi
  } | sha256 | cut -c 1-12
}

# Sets `references` (name=reference lines of the wanted images) and `missing` (their names). Without a
# base image no digest can be known.
settle() {
  local name base_id reference
  list_known
  base_id=$(id_of "$base")
  references=''
  missing=''
  for name in $names; do
    if [ -z "$base_id" ]; then
      missing="$missing $name"
      continue
    fi
    reference=lockpick/$name:$(digest_of "$name" "$base_id")
    references="$references$name=$reference
"
    [ -n "$(id_of "$reference")" ] || missing="$missing $name"
  done
}

reference_of() {
  printf '%s' "$references" | sed -n "s/^$1=//p"
}

workspace=
trap '[ -z "$workspace" ] || rm -rf "$workspace"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Puts the Node binary for the engine's architecture at $1: from the project's installed packages
# (beside us in a checkout; further up where lockpick itself is an installed package), else by npm.
fetch_node() {
  local target=$1 machine arch version packages
  machine=$(bounded 30 docker info --format '{{.OSType}}/{{.Architecture}}')
  case "$machine" in
    linux/x86_64 | linux/amd64) arch=x64 ;;
    linux/aarch64 | linux/arm64) arch=arm64 ;;
    *) unavailable "no Node binary is known for an engine on $machine (linux on x86_64 and aarch64 are)" ;;
  esac
  version=$(node_version "$arch")
  [ -n "$version" ] || unavailable "package.json names no exact version of node-linux-$arch in optionalDependencies"
  for packages in "$here/../node_modules" "$here/../.."; do
    if grep -qs "\"version\": *\"$version\"" "$packages/node-linux-$arch/package.json"; then
      cp "$packages/node-linux-$arch/bin/node" "$target"
      return 0
    fi
  done
  command -v npm >/dev/null ||
    unavailable "node-linux-$arch@$version is not in node_modules and there is no npm to get it: run 'npm install --include=optional'"
  say "client: fetching node-linux-$arch@$version from the npm registry"
  mkdir "$workspace/pack"
  (cd "$workspace/pack" && npm pack --silent "node-linux-$arch@$version" >/dev/null && tar -xzf ./*.tgz package/bin/node) >&2 ||
    unavailable "npm could not fetch node-linux-$arch@$version"
  mv "$workspace/pack/package/bin/node" "$target"
}

# Reads a build's output (classic builder or buildx, plain) and shows its steps: one line each, or on
# one line of a terminal.
show_steps() {
  local name=$1 line
  while IFS= read -r line; do
    case "$line" in
      "#"*) line=${line#* } ;;
    esac
    case "$line" in
      "Step "[0-9]* | "["[0-9]*/[0-9]*"] "*) ;;
      *) continue ;;
    esac
    if [ -t 2 ]; then printf '\r\033[Kimages: %s: %.60s' "$name" "$line" >&2; else say "$name: ${line:0:100}"; fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# What a build behind a proxy needs; the values stay out of the image and of its history.
proxy_arguments() {
  local variable
  for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!variable:-}" ] || printf -- '--build-arg %s ' "$variable"
  done
}

build() {
  local name=$1 reference started=$SECONDS log context reference_old id
  reference=$(reference_of "$name")
  say "$name: building $reference"
  workspace=$(mktemp -d "${TMPDIR:-/tmp}/lockpick-image.XXXXXX")
  context=$workspace/context log=$workspace/log
  cp -R "$here/$name" "$context"
  if [ "$name" = client ]; then
    fetch_node "$context/node"
    chmod 755 "$context/node"
  fi
  # Left alone, buildx may pick a builder that neither sees the local base image nor stores its result.
  # `docker context show` would be shorter, but version 20.10 answers it with its help text.
  BUILDX_BUILDER=$(docker context inspect --format '{{.Name}}' 2>/dev/null) || BUILDX_BUILDER=default
  export BUILDX_BUILDER BUILDKIT_PROGRESS=plain
  # shellcheck disable=SC2046
  if ! docker build --force-rm --network host $(proxy_arguments) --label "lockpick.image=$name" --tag "$reference" "$context" </dev/null 2>&1 |
    tee "$log" | show_steps "$name"; then
    tail -n 30 "$log" >&2
    unavailable "$name: docker build failed after $((SECONDS - started)) s; its last lines are above"
  fi
  rm -rf "$workspace"
  workspace=
  say "$name: built in $((SECONDS - started)) s"
  [ $keep_old = no ] || return 0
  while read -r reference_old id; do
    case "$reference_old" in
      "$reference" | *:"<none>") ;;
      "lockpick/$name:"*)
        if docker image rm "$reference_old" >/dev/null 2>&1; then
          say "$name: removed old $reference_old"
        else
          say "$name: kept old $reference_old (in use)"
        fi
        ;;
    esac
  done <<<"$known"
}

settle
if [ $check = yes ]; then
  for name in $names; do
    reference=$(reference_of "$name")
    case " $missing " in
      *" $name "*) echo "$name=${reference:-lockpick/$name:?} missing" ;;
      *) echo "$name=$reference present" ;;
    esac
  done
  [ -z "$missing" ] || exit 1
  exit 0
fi

if [ -n "$missing" ]; then
  # Two at once: the second waits and then finds most of it done.
  if command -v flock >/dev/null; then
    exec 9<"$here"
    flock -n 9 || { say "waiting for another images.sh to finish"; flock 9; }
  fi
  "$here/base.sh"
  settle
  for name in $missing; do build "$name"; done
fi
printf '%s' "$references"
