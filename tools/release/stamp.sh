#!/bin/sh
# Makes the two commits of a release, upon the commit that was tried:
#
#   stamp.sh published VERSION         for main: pages, help and examples use the
#                                      release, CHANGELOG.md has its date
#   stamp.sh released VERSION SUMS IMAGE   for the tag alone: host/ carries version
#                                      and checksums, action.yml the image's digest
#
# Both take their time and author from their parent, so that who makes them again
# gets the same ids.
set -eu
cd "$(dirname "$0")/../.."
version=$2

# edit changes a file by sed, and fails where nothing was changed.
edit() {
  sed -e "$2" "$1" >"$1.new"
  if cmp -s "$1" "$1.new"; then
    rm "$1.new"
    echo "stamp: $1 is not as expected: $2" >&2
    exit 1
  fi
  cat "$1.new" >"$1" # which keeps its mode
  rm "$1.new"
}

commit() {
  git add -- README.md CHANGELOG.md action.yml host examples docs templates/help
  GIT_AUTHOR_NAME=ralph GIT_AUTHOR_EMAIL=ralph@users.noreply.github.com GIT_AUTHOR_DATE=$(git log -1 --format=%cI) \
    GIT_COMMITTER_NAME=ralph GIT_COMMITTER_EMAIL=ralph@users.noreply.github.com GIT_COMMITTER_DATE=$(git log -1 --format=%cI) \
    git commit --quiet --no-gpg-sign --no-verify -m "$1"
}

case $1 in
published)
  date=$(git log -1 --format=%cs)
  edit CHANGELOG.md "s/^## \[${version#v}\] - Unreleased\$/## [Unreleased]\n\n## [${version#v}] - $date/"
  if grep -q '^> <!-- not released -->$' README.md; then
    edit README.md '/^> <!-- not released -->$/,/^> <!-- \/not released -->$/d'
    for file in $(grep -l 'uses: ralph-loop/ralph.*@main$' README.md examples/*.yml docs/*.md templates/help/*.txt); do
      edit "$file" '/# until the first release$/d; s|\(uses: ralph-loop/ralph.*\)@main$|\1@v1|'
    done
  fi
  commit "release: $version is published"
  ;;
released)
  { echo "$version" && grep '\.tar\.gz$' "$3"; } >host/release
  edit action.yml "s|^  image: Dockerfile\$|  image: docker://$4|"
  commit "release: $version"
  ;;
*)
  echo 'stamp: say published or released' >&2
  exit 2
  ;;
esac
