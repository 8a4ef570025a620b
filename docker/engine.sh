#!/usr/bin/env bash
# engine.sh start|stop|status: make a Docker engine available, only when asked.
#
# Where:  Debian or Ubuntu, as root; systemd is used where it runs and not needed where it does not
#         (containers, small virtual machines, CI). Everywhere else it says what to do instead.
# Why:    lockpick hurts real servers in real containers, so no engine means no run.
# Result: 0 = an engine answers (start, status) or ours is stopped (stop); 1 = status: none answers;
#         stop: it would not end; 64 = wrong arguments; 69 = it cannot be had, with the reason.
#         One result line on stdout, everything else on stderr.
# stop ends only the dockerd that start began: the pid file names it and /proc confirms it.
set -euo pipefail

readonly pid_file=/var/run/lockpick-dockerd.pid
readonly lock_file=/var/run/lockpick-dockerd.lock
readonly log_file=/var/log/lockpick-dockerd.log
readonly ready_seconds=60
readonly stop_seconds=30
user=$(id -un)
readonly user
readonly refused="an engine runs, but user $user may not talk to it: join its group ('sudo usermod -aG docker $user', then log in again) or use sudo"

say() { printf 'engine: %s\n' "$*" >&2; }
unavailable() { say "$*"; exit 69; }

# `timeout` is everywhere but on macOS, which only gets as far as `status` and good advice.
bounded() {
  local seconds=$1
  shift
  if command -v timeout >/dev/null; then timeout "$seconds" "$@"; else "$@"; fi
}

# Prints the engine's version when it answers within a bound. `docker info` of some versions
# exits 0 without an engine, so an empty answer counts as none.
engine_version() {
  local version
  version=$(bounded 10 docker info --format '{{.ServerVersion}}' 2>/dev/null) && [ -n "$version" ] && printf '%s\n' "$version"
}

# An engine runs, but its socket is closed to this user.
engine_refuses_us() {
  [ "$(bounded 10 docker info 2>&1 | grep -c 'permission denied')" != 0 ]
}

# The pid of the dockerd that this script started, if it still is one: pids are reused, and a dead
# one stays in /proc as a zombie (Z) where PID 1 reaps nobody, as in many containers.
our_dockerd() {
  local pid
  pid=$(cat "$pid_file" 2>/dev/null) || return 1
  [ -n "$pid" ] && grep -q '(dockerd) [^Z]' "/proc/$pid/stat" 2>/dev/null && printf '%s\n' "$pid"
}

require_debian_root() {
  [ "$(uname -s)" = Linux ] ||
    unavailable "no engine answers and this is not Linux: start Docker Desktop, Colima or the like, then try again"
  case "${DOCKER_HOST:-unix:///var/run/docker.sock}" in
    unix:///var/run/docker.sock | unix:///run/docker.sock) ;;
    *) unavailable "no engine answers at DOCKER_HOST=$DOCKER_HOST: start that one, or unset DOCKER_HOST to start one here" ;;
  esac
  if [ "$(id -u)" != 0 ]; then
    if engine_refuses_us; then unavailable "$refused"; fi
    unavailable "no engine answers, and only root can start one: run 'sudo docker/engine.sh start'"
  fi
  local ids
  # shellcheck disable=SC1091
  ids=$(. /etc/os-release 2>/dev/null && printf '%s %s' "${ID:-}" "${ID_LIKE:-}") || true
  case " $ids " in
    *" debian "* | *" ubuntu "*) ;;
    *) unavailable "no engine answers and only Debian and Ubuntu are known here: install Docker by https://docs.docker.com/engine/install/ and start it" ;;
  esac
}

# Debian 13 moved the client out of docker.io into docker-cli, which is only recommended there.
install_missing() {
  local packages=()
  command -v dockerd >/dev/null || packages+=(docker.io)
  command -v iptables >/dev/null || packages+=(iptables)
  command -v debootstrap >/dev/null || packages+=(debootstrap)
  if [ ${#packages[@]} -gt 0 ]; then apt_install "${packages[@]}"; fi
  if ! command -v docker >/dev/null; then apt_install docker-cli; fi
}

apt_install() {
  local output
  say "installing $*"
  output=$(mktemp)
  # A broken third-party source fails `update` although Debian's own lists arrived: install decides.
  apt-get update >"$output" 2>&1 || say "apt-get update complained; trying to install all the same"
  if ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$output" 2>&1; then
    tail -n 30 "$output" >&2
    rm -f "$output"
    unavailable "apt-get could not install $*"
  fi
  rm -f "$output"
}

# Own session, no terminal, no inherited descriptors: it outlives the caller, and a caller that
# reads our output to its end is not kept waiting. The shell's pid becomes dockerd's by exec.
launch() {
  # shellcheck disable=SC2016
  nohup setsid bash -c 'echo $$ >"$1"; ulimit -n 1048576 2>/dev/null; exec dockerd' launch "$pid_file" \
    </dev/null >"$log_file" 2>&1 9>&- &
  local deadline=$((SECONDS + ready_seconds))
  sleep 0.2
  while [ $SECONDS -lt $deadline ]; do
    if engine_version >/dev/null; then return 0; fi
    if ! our_dockerd >/dev/null; then sleep 0.3; our_dockerd >/dev/null || return 1; fi
    sleep 0.2
  done
  return 1
}

end_ours() {
  local pid deadline=$((SECONDS + stop_seconds))
  pid=$(our_dockerd) || { rm -f "$pid_file"; return 0; }
  kill -TERM "$pid"
  while our_dockerd >/dev/null; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1
  done
  rm -f "$pid_file"
}

# dockerd writes its rules with whatever `iptables` is. Debian's default speaks nf_tables; a kernel
# without the parts it needs makes dockerd fail while it sets up its bridge, and the older interface
# often still works. Debian's choice is put back when that did not help either.
launch_with_legacy_iptables() {
  local legacy=/usr/sbin/iptables-legacy
  [ -x "$legacy" ] || return 1
  grep -qE 'iptables failed|nf_tables|NAT chain' "$log_file" || return 1
  case "$(readlink -f /usr/sbin/iptables)" in *legacy*) return 1 ;; esac
  say "dockerd failed while writing its iptables rules: trying iptables-legacy"
  end_ours || return 1
  update-alternatives --set iptables "$legacy" >&2 || return 1
  if launch; then return 0; fi
  update-alternatives --auto iptables >&2 || true
  return 1
}

start() {
  local version
  if version=$(engine_version); then
    printf 'engine %s already answers\n' "$version"
    return 0
  fi
  require_debian_root
  exec 9>"$lock_file"
  flock -w 300 9 || unavailable "another engine.sh has been at work for 5 minutes"
  install_missing
  # The package may have started it, and so may whoever held the lock.
  if ! engine_version >/dev/null; then
    if [ -d /run/systemd/system ]; then
      say "starting docker by systemd"
      systemctl start docker >&2 || unavailable "'systemctl start docker' failed: see 'journalctl -u docker'"
      local deadline=$((SECONDS + ready_seconds))
      until engine_version >/dev/null; do
        [ $SECONDS -lt $deadline ] || unavailable "docker.service runs but does not answer: see 'journalctl -u docker'"
        sleep 0.2
      done
    else
      say "starting dockerd (log: $log_file)"
      if ! launch && ! launch_with_legacy_iptables; then
        tail -n 20 "$log_file" | cut -c 1-500 >&2 || true
        if our_dockerd >/dev/null; then
          end_ours || true
          unavailable "dockerd did not answer within $ready_seconds s; the end of $log_file is above"
        fi
        rm -f "$pid_file"
        unavailable "dockerd ended while it started; the end of $log_file is above"
      fi
    fi
  fi
  printf 'engine %s started\n' "$(engine_version)"
}

stop() {
  local pid
  if ! pid=$(our_dockerd); then
    echo "no engine was started by this script: nothing to stop"
    return 0
  fi
  [ "$(id -u)" = 0 ] || unavailable "only root can stop dockerd (pid $pid)"
  if ! end_ours; then
    say "dockerd (pid $pid) did not end within $stop_seconds s"
    return 1
  fi
  echo "engine stopped (pid $pid)"
}

status() {
  local version pid
  if ! version=$(engine_version); then
    if engine_refuses_us; then echo "$refused"; else echo "no engine answers: 'docker/engine.sh start' can start one"; fi
    return 1
  fi
  if pid=$(our_dockerd); then
    echo "engine $version answers (dockerd pid $pid, started by this script)"
  else
    echo "engine $version answers (not started by this script)"
  fi
}

case "${1:-}" in
  start | stop | status) "$1" ;;
  *)
    echo "usage: engine.sh start|stop|status" >&2
    exit 64
    ;;
esac
