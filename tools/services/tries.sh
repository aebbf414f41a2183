#!/usr/bin/env bash
# tries.sh RALPH ADDRESS...: a check with Postgres and one with Redis at each level of
# the sandbox. Each reaches its service at each ADDRESS (a host, SERVICE for the service's
# own name, or empty for this machine), and is refused where no service is named, or only
# the other one. The ports are $PGPORT and $REDISPORT, the levels $LEVELS.
set -euo pipefail
ralph=$1
shift

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
mkdir "$dir/shop"
cat >"$dir/shop/postgres.sh" <<'END'
psql -h 127.0.0.1 -p "$PGPORT" -U ralph -d postgres -qAt -v ON_ERROR_STOP=1 \
  -c 'drop table if exists orders; create table orders (id int); insert into orders values (7); select id from orders' | grep -qx 7
END
cat >"$dir/shop/redis.sh" <<'END'
redis-cli -h 127.0.0.1 -p "$REDISPORT" set orders 7 | grep -qx OK && redis-cli -h 127.0.0.1 -p "$REDISPORT" get orders | grep -qx 7
END
cd "$dir/shop"
git init -q -b main
git add .
git -c user.name=Ada -c user.email=ada@example.com commit -q -m begin

failed=0
# try WANT LEVEL CHECK ADDRESS: the check passes, or fails at the service's port.
try() {
  local given=() got=refused
  [ -z "$4" ] || given=(--service "$4")
  if "$ralph" doctor --checks --sandbox="$2" --check "sh $3.sh" --check-env "PGPORT=$PGPORT" --check-env "REDISPORT=$REDISPORT" \
    --check-env "PGPASSWORD=${PGPASSWORD:-}" "${given[@]}" --json >"$dir/said" 2>"$dir/log" && grep -q '"state": "green"' "$dir/said"; then
    got=reached
  elif ! grep -qi 'refused' "$dir/said" "$dir/log"; then
    got='neither reached nor refused'
  fi
  printf '%-9s  %-9s  %-16s  %s\n' "$3" "$2" "${4:-none named}" "$got"
  if [ "$got" != "$1" ]; then
    cat "$dir/log" "$dir/said" >&2
    failed=1
  fi
}

for level in $LEVELS; do
  for service in postgres redis; do
    port=$PGPORT other=$REDISPORT
    [ "$service" = postgres ] || port=$REDISPORT other=$PGPORT
    for host; do
      host=${host/SERVICE/$service}
      try reached "$level" "$service" "${host:+$host:}$port"
    done
    try refused "$level" "$service" ''
    host=${1/SERVICE/$([ "$service" = postgres ] && echo redis || echo postgres)}
    try refused "$level" "$service" "${host:+$host:}$other"
  done
done
exit $failed
