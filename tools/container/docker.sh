# shellcheck shell=bash
# For the scripts that need Docker, which source this: die, step, and docker_up,
# which starts a daemon of our own where none answers. $dir is a folder for what
# goes at the end, and $own is set where the daemon is ours.

die() { echo "${0##*/}: $1" >&2; exit 2; }

step() { printf '==> %s (after %d s)\n' "$1" "$SECONDS"; }

dir=$(mktemp -d)
own=''
bridge='' # that our daemon makes, and leaves
data=''
docker_down() {
  if [ -s "$dir/pid" ]; then
    kill "$(cat "$dir/pid")" && tail --pid="$(cat "$dir/pid")" -f /dev/null
  fi
  mounts_below "$dir/run" "$data" | xargs -r -d '\n' umount 2>/dev/null || true # which it leaves, too
  if [ -n "$bridge" ]; then ip link delete "$bridge" 2>/dev/null || true; fi
  rm -rf "$dir"
}

# mounts_below lists what is mounted at or below folders, the innermost first.
mounts_below() {
  local folder
  for folder in "$@"; do
    if [ -n "$folder" ]; then findmnt --noheadings --raw --output TARGET | grep -E "^$folder(/|\$)" | sort -r || true; fi
  done
}

# docker_up takes the folder in which a daemon of ours keeps its images. It runs
# without rules for the machine's network, which it must not change. Only
# a container with the machine's own network gets answers from outside.
# A machine that gets no bridge has containers with loopback alone.
docker_up() {
  local network
  docker info >/dev/null 2>&1 && return
  command -v dockerd >/dev/null || install docker.io iptables
  export DOCKER_HOST=unix://$dir/socket
  # shellcheck disable=SC2034 # for those who source this
  own=yes data=$1
  if [ ! -e /sys/class/net/docker0 ]; then bridge=docker0; fi
  mkdir -p "$data"
  exec 9>"$data.lock"
  flock 9
  for network in '--iptables=false --ip-forward=false' '--iptables=false --bridge=none'; do
    # shellcheck disable=SC2086 # two words
    dockerd --data-root "$data" --exec-root "$dir/run" --pidfile "$dir/pid" -H "$DOCKER_HOST" $network >"$dir/log" 2>&1 9>&- &
    for _ in $(seq 60); do
      docker info >/dev/null 2>&1 && return
      kill -0 $! 2>/dev/null || break
      sleep 0.5
    done
    kill $! 2>/dev/null || true
    wait $! 2>/dev/null || true
  done
  tail -n 5 "$dir/log" >&2
  die 'no daemon starts here: see above'
}

# docker_import IMAGE [COMMAND]: an image of Debian without programs, and with the
# files of $dir/add where that is there. A container mounts this machine's /usr.
docker_import() {
  local made=$dir/root name
  rm -rf "$made"
  mkdir -p "$made"/{dev,etc,home,proc,root,run,src,sys,tmp,tests,usr,var/tmp}
  chmod 1777 "$made/tmp" "$made/var/tmp"
  for name in bin lib lib32 lib64 libx32 sbin; do
    if [ -L "/$name" ]; then cp -a "/$name" "$made/$name"; fi
  done
  for name in passwd group nsswitch.conf os-release debian_version protocols services ssl/certs ssl/openssl.cnf ca-certificates alternatives ld.so.cache ld.so.conf ld.so.conf.d; do
    if [ -e "/etc/$name" ]; then (cd / && cp -a --parents "etc/$name" "$made"); fi
  done
  if [ -d "$dir/add" ]; then cp -a "$dir/add/." "$made"; fi
  tar -C "$made" --owner=0 --group=0 -c . | docker import ${2:+--change "CMD $2"} - "$1" >/dev/null
}

# install has apt-get bring packages.
install() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then die "$*: install them, or be root where apt-get can"; fi
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; } >"$dir/log" 2>&1 ||
    { tail -n 5 "$dir/log" >&2; die "$* cannot be installed: see above"; }
}
