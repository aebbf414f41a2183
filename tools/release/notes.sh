#!/bin/sh
# Prints the section of CHANGELOG.md for a version: notes.sh v1.2.3. Without one
# it prints the newest version that the file has a section for.
set -eu
cd "$(dirname "$0")/../.."
if [ $# -eq 0 ]; then
  sed -n 's/^## \[\([0-9][^]]*\)\].*/v\1/p' CHANGELOG.md | head -n 1
  exit
fi
notes=$(awk -v want="## [${1#v}]" 'index($0, "## ") == 1 { on = index($0, want) == 1; next } on' CHANGELOG.md)
[ -n "$notes" ] || { echo "notes: CHANGELOG.md has no section for $1" >&2; exit 1; }
printf '%s\n' "$notes"
