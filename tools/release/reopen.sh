#!/bin/sh
# For those who try a release after there was one: the newest version of
# CHANGELOG.md is committed as not released yet, and pushed, if it is not so anyway.
set -eu
cd "$(dirname "$0")/../.."
version=$(tools/release/notes.sh)
if grep -q "^## \[${version#v}\] - Unreleased\$" CHANGELOG.md; then exit; fi
sed "s/^## \[${version#v}\] - .*/## [${version#v}] - Unreleased/" CHANGELOG.md >CHANGELOG.new
cat CHANGELOG.new >CHANGELOG.md
rm CHANGELOG.new
git -c user.name=ralph -c user.email=ralph@users.noreply.github.com commit --quiet --no-gpg-sign --no-verify -m "try $version again" -- CHANGELOG.md
git push --quiet origin HEAD:refs/heads/main
