#!/usr/bin/env bash
# A check that uses Postgres and Redis is tried at each level of the sandbox, as a
# workflow's services are reached: on loopback, by the mapped ports of a job on the
# runner, and by the address and the name of a service container, as a job in a
# container has them; then in jobs of a workflow with services, where Docker can be had.
# Both come from Debian's packages, and nothing but those is left.
set -euo pipefail
cd "$(dirname "$0")/../.."

root=''
[ "$(id -u)" = 0 ] || root=sudo
if ! command -v redis-server >/dev/null || ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
  $root apt-get update -q
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 $root apt-get install -y -q --no-install-recommends postgresql redis-server redis-tools git
fi

dir=$(mktemp -d)
chmod 755 "$dir"
servers=()
clear_away() {
  if ((${#servers[@]})); then
    kill "${servers[@]}" 2>/dev/null || true
    wait "${servers[@]}" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap clear_away EXIT

# as runs a program as a user that Postgres accepts: never root.
as() {
  if [ "$(id -u)" = 0 ]; then exec setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; else exec "$@"; fi
}

# until_up COMMAND...: the command succeeds within 30 seconds.
until_up() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "services: $* did not succeed" >&2
  exit 1
}

# named runs a program where postgres and redis are names of hosts, as Docker's network
# has them for a job in a container.
named() {
  # shellcheck disable=SC2016 # for the shell inside
  $root unshare --mount sh -c 'mount --bind "$0" /etc/hosts && user=$1 group=$2 && shift 2 && exec setpriv --reuid="$user" --regid="$group" --init-groups -- env "$@"' \
    "$dir/hosts" "$(id -u)" "$(id -g)" "PATH=$PATH" "HOME=$HOME" "$@"
}

bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
hosts='127.0.0.1 127.0.0.7'
mkdir "$dir/pg" "$dir/sockets"
if [ "$(id -u)" = 0 ]; then chown postgres "$dir/pg" "$dir/sockets"; fi
(as "$bin/initdb" -D "$dir/pg" -U ralph -A trust -E UTF8 --no-sync) >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log"; exit 1; }
pg=$((20000 + $$ % 10000)) redis=$((30000 + $$ % 2000))
(as "$bin/postgres" -D "$dir/pg" -p "$pg" -c "listen_addresses=${hosts/ /,}" -c "unix_socket_directories=$dir/sockets" -c fsync=off) >"$dir/pg.log" 2>&1 &
servers+=($!)
# shellcheck disable=SC2086
redis-server --port "$redis" --bind $hosts --save '' --appendonly no --protected-mode no --dir "$dir" >"$dir/redis.log" 2>&1 &
servers+=($!)
until_up "$bin/pg_isready" -h 127.0.0.7 -p "$pg"
until_up redis-cli -h 127.0.0.7 -p "$redis" ping

go build -o "$dir/ralph" ./cmd/ralph
printf '127.0.0.1 localhost\n127.0.0.7 postgres redis\n' >"$dir/hosts"
levels=notify
if "$dir/ralph" doctor --sandbox=namespace >/dev/null 2>&1; then levels='namespace notify'; fi
named "PATH=$bin:$PATH" "LEVELS=$levels" "PGPORT=$pg" "REDISPORT=$redis" tools/services/tries.sh "$dir/ralph" '' 127.0.0.7 SERVICE

if tools/container/able.sh; then
  tools/services/job.sh
else
  echo 'services: no container can be had here: the services of a workflow are left out' >&2
fi
