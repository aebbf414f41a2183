#!/usr/bin/env bash
# Makes the commits of a release and pushes them with its tags, all or nothing:
# push.sh VERSION SUMS IMAGE. Where main has moved on, it gets its commit on top.
# A fix of an older version is made on a branch: main and v1 stay as they are then.
# Where all of it is done already, nothing is.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1 tried=$(git rev-parse HEAD)

tools/release/stamp.sh published "$version"
published=$(git rev-parse HEAD)
tools/release/stamp.sh released "$@"
released=$(git rev-parse HEAD)
major=${version%%.*}
if [ "$major" = v0 ]; then major=v1; fi # docs/results.md

tags=$(git ls-remote --refs --tags origin 'v*')
if grep -qx "$released.refs/tags/$version" <<<"$tags"; then exit; fi # it is done again
same=${major#v}
if [ "$major" = v1 ]; then same='[01]'; fi
newest=$({ sed -nE "s|.*refs/tags/(v$same\.[0-9]+\.[0-9]+)\$|\1|p" <<<"$tags" && echo "$version"; } | sort -V | tail -n 1)
refs=("$released:refs/tags/$version")
if [ "$newest" = "$version" ]; then refs+=("+$released:refs/tags/$major"); fi

git fetch --quiet origin main
if git merge-base --is-ancestor "$tried" FETCH_HEAD; then
  if [ "$(git rev-parse FETCH_HEAD)" != "$tried" ]; then
    git checkout --quiet --detach FETCH_HEAD
    tools/release/stamp.sh published "$version"
    published=$(git rev-parse HEAD)
  fi
  refs+=("$published:refs/heads/main")
elif [ "$newest" = "$version" ]; then
  echo "push: $tried is not on main, where releases are made but for fixes of older ones than $version" >&2
  exit 1
fi
git push --quiet --atomic origin "${refs[@]}"
