#!/usr/bin/env bash
# The services of a workflow, started by act ($ACT) in Docker as a runner starts them:
# Postgres and Redis, which a job on the runner reaches by mapped ports, and a job in a
# container by their names. Both jobs may make namespaces, as a job on a runner may: in
# stock Docker the level is notify. The images' programs are this machine's /usr.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/container/docker.sh
. tools/container/docker.sh

images=(ralph-postgres:test ralph-redis:test ralph-job:test)
clear_away() {
  if docker info >/dev/null 2>&1; then
    for image in "${images[@]}"; do
      docker ps --all --quiet --filter "ancestor=$image" | xargs -r docker rm --force >/dev/null
      docker image rm --force "$image" >/dev/null 2>&1 || true
    done
    if [ -n "$own" ]; then docker network prune --force >/dev/null; fi
  fi
  docker_down
}
trap clear_away EXIT
docker_up "$dir/data"

mkdir -p "$dir/add/ralph" "$dir/asked/.github/workflows" "$dir/home/.config/act"
go build -o "$dir/add/ralph/ralph" ./cmd/ralph
cp tools/services/tries.sh "$dir/add/ralph"
cat >"$dir/add/ralph/postgres.sh" <<'END'
set -eu
mkdir /data
chown postgres /data
cd /data
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
setpriv --reuid=postgres --regid=postgres --clear-groups sh -euc '
  echo "$POSTGRES_PASSWORD" >/data/password
  "$0/initdb" -D /data/pg -U "$POSTGRES_USER" -A scram-sha-256 --pwfile /data/password --no-sync
  echo "host all all all scram-sha-256" >>/data/pg/pg_hba.conf
  exec "$0/postgres" -D /data/pg -c listen_addresses=* -c unix_socket_directories=/data -c fsync=off' "$bin"
END
docker_import ralph-postgres:test '["sh", "/ralph/postgres.sh"]'
docker_import ralph-redis:test '["redis-server", "--save", "", "--protected-mode", "no"]'
docker_import ralph-job:test

touch "$dir/home/.config/act/actrc" # else it asks
cp tools/services/workflow.yml "$dir/asked/.github/workflows"
git -C "$dir/asked" init -q -b main
git -C "$dir/asked" remote add origin https://github.com/ralph-loop/ralph
git -C "$dir/asked" add .
git -C "$dir/asked" -c user.name=Ada -c user.email=ada@example.com commit -q -m begin
options=$(sed -n 's/^ *options: \(--cap-add\)/\1/p' tools/services/workflow.yml)
code=0
(
  cd "$dir/asked"
  HOME=$dir/home "$ACT" push --platform ubuntu-latest=ralph-job:test --pull=false \
    --container-daemon-socket - --container-options "-v /usr:/usr:ro $options"
) >"$dir/act.log" 2>&1 || code=$?
if [ $code != 0 ]; then cat "$dir/act.log" >&2; fi
sed -n 's/^\[services\/\([a-z]*\) *\] *| /\1: /p' "$dir/act.log"
exit $code
