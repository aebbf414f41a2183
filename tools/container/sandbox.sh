#!/usr/bin/env bash
# The sandbox's tests in a container as GitHub starts one for an action: stock
# Docker, root, no flag but those that name folders. There are no namespaces in
# it, so level notify is what is found and what everything is done at.
#
# A daemon is started where none runs, and the image is this machine's own
# programs: no registry is asked. Nothing of it is left, but what apt installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

# shellcheck source=tools/container/docker.sh
. tools/container/docker.sh

image=ralph-sandbox:$$
clear_away() {
  docker image rm -f "$image" >/dev/null 2>&1 || true
  docker_down
}
trap clear_away EXIT

# inside runs a program there: NAME=VALUE… FOLDER PROGRAM… It has no DNS server:
# out of a bridge without the machine's rules it would wait for an answer.
inside() {
  local given=()
  while [[ $1 == *=* ]]; do given+=(-e "$1"); shift; done
  docker run --rm --dns 127.0.0.1 -w "$1" -e "PATH=$(dirname "$(command -v go)"):/usr/local/bin:/usr/bin:/bin" "${given[@]}" "${mounts[@]}" "$image" "${@:2}"
}

docker_up "$dir/data"
docker_import "$image"
mounts=(-v /usr:/usr:ro -v "$PWD:/src:ro" -v "$dir/tests:/tests:ro" -v "$(go env GOCACHE):/root/.cache/go-build")
goroot=$(go env GOROOT)
if [[ $goroot != /usr/* ]]; then mounts+=(-v "$goroot:$goroot:ro"); fi
for cache in "${TMPDIR:-/tmp}"/sandbox-test-go-*; do # what the tests built here, where they have
  if [ -d "$cache" ]; then mounts+=(-v "$cache:/tmp/$(basename "$cache")"); fi
done

mkdir "$dir/tests"
go build -o "$dir/tests/ralph" ./cmd/ralph
go test -c -o "$dir/tests/sandbox" ./internal/box/sandbox
go test -c -o "$dir/tests/cmd" ./cmd/ralph

step 'ralph doctor --sandbox'
inside /src /tests/ralph doctor --sandbox | tee "$dir/found"
grep -q '^sandbox level notify: tested from inside' "$dir/found" || die 'a stock container has level notify, and this has not'
step 'the tests of internal/box/sandbox'
inside /src/internal/box/sandbox /tests/sandbox -test.timeout=5m -test.v >"$dir/said" 2>&1 || { grep -v -e '^=== ' -e '^ *--- PASS' "$dir/said"; exit 1; }
grep -A1 -E 'levels that|legitimate uses' "$dir/said" || true
grep -cE '^--- PASS' "$dir/said"
step 'the scripts of whole runs behind it, but for those that want a namespace'
# One at a time: the agents of all jobs in a container are the same user, whose
# processes a job ends with its agent.
inside /src/cmd/ralph /tests/cmd -test.timeout=10m -test.parallel=1 -test.run='^TestScripts$/sandbox' \
  -test.skip='^TestScripts$/namespace$'
if [ -d tools/agents/node_modules ]; then
  step 'Claude Code and Codex, a whole iteration'
  inside AGENTS=1 /src/cmd/ralph /tests/cmd -test.timeout=5m -test.parallel=1 -test.run='^TestAgentsBehindTheSandbox$/notify/(claude|codex)|^TestAgentsInTheAction$/notify'
else
  step 'without Claude Code and Codex: make agents brings them'
fi
step 'all of it held'
