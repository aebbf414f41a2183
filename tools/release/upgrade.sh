#!/usr/bin/env bash
# A run that the previous version began, and that was killed in the middle, is
# finished by this one: upgrade.sh PROGRAM FOLDER. The previous version is the last
# release, or where there is none the commit before this one.
set -euo pipefail
cd "$(dirname "$0")/../.."
new=$1 dir=$2/upgrade
mkdir -p "$dir/shop/ralph"
# No branch has the commits of releases: git describe would not find them.
previous=$(git tag --list --sort=version:refname 'v[0-9]*.[0-9]*.[0-9]*' | tail -n 1)
previous=${previous:-$(git rev-parse HEAD~1)}
mkdir "$dir/previous"
git archive "$previous" | tar -xC "$dir/previous"
(cd "$dir/previous" && go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=previous" -o "$dir/old" ./cmd/ralph)

cd "$dir/shop"
git init --quiet
git config user.name a
git config user.email a@b.c
echo 'test ! -e broken.txt' >check.sh
cat >ralph/prd.json <<'PRD'
{"project": "shop", "branchName": "ralph/shop", "description": "a shop", "userStories": [
  {"id": "US-001", "title": "Say that it is done", "description": "As a tester I want a file.", "acceptanceCriteria": ["there is done.txt"], "priority": 1, "passes": false, "notes": ""}]}
PRD
# The first agent says that it is at work, and waits to be killed; the next one
# works. Without a sandbox it works in the project itself, so that this script sees its word.
echo began >.gitignore
cat >"$dir/agent" <<'AGENT'
#!/bin/sh
cat >/dev/null
if [ ! -e began ]; then
  : >began
  exec sleep 600
fi
echo done >done.txt
sed -i 's/"passes": *false/"passes": true/' ralph/prd.json
git add -A && git commit --quiet -m 'feat: done'
AGENT
chmod 755 "$dir/agent"
git add -A && git commit --quiet -m base

"$dir/old" run --no-sandbox --agent command --agent-command "$dir/agent" --check 'sh check.sh' >"$dir/log" 2>&1 &
run=$!
until [ -e began ]; do
  kill -0 "$run" 2>/dev/null || { cat "$dir/log"; echo 'the previous version ended before its agent worked' >&2; exit 1; }
  sleep 0.1
done
kill -9 "$run"
wait "$run" 2>/dev/null || true
"$new" status
"$new" resume --agent-command "$dir/agent" >"$dir/resumed" 2>&1 || { code=$?; cat "$dir/log" "$dir/resumed"; exit "$code"; }
"$new" status
grep -q '"passes": *true' ralph/prd.json
[ "$(find .ralph/runs -name journal.jsonl | wc -l)" = 1 ] # it is that run, and no other
