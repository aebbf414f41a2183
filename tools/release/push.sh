#!/usr/bin/env bash
# Makes the commits of a release and pushes them with its tags, all or nothing:
# push.sh VERSION SUMS IMAGE. Where main has moved on, it gets its commit on top.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1 tried=$(git rev-parse HEAD)

tools/release/stamp.sh published "$version"
published=$(git rev-parse HEAD)
tools/release/stamp.sh released "$@"
released=$(git rev-parse HEAD)
major=${version%%.*}
if [ "$major" = v0 ]; then major=v1; fi # docs/COMPATIBILITY.md

git fetch --quiet origin main
if [ "$(git rev-parse FETCH_HEAD)" != "$tried" ]; then
  git checkout --quiet --detach FETCH_HEAD
  tools/release/stamp.sh published "$version"
  published=$(git rev-parse HEAD)
fi
git push --quiet --atomic origin "$published:refs/heads/main" "$released:refs/tags/$version" "+$released:refs/tags/$major"
