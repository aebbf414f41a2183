#!/bin/sh
# Gets ralph onto a runner, and tells the job where: the output `program`. RALPH_FROM
# says from where:
#
#   release  the archive of the release that this commit is, by the checksum in
#            host/release
#   v1.2.3   another release, by its SHA256SUMS
#   path     one that is on PATH already: nothing is reached
#   build    out of this Action's own source, with the Go that is on PATH
#
# RALPH_RELEASES is the folder of all releases, else the Action RALPH_ACTION on this
# server. curl takes HTTPS_PROXY, NO_PROXY and SSL_CERT_FILE by itself.
set -eu
umask 022 # who is behind the sandbox starts it, too

die() {
  printf '::error::%s\n' "$1" >&2
  printf 'ralph: %s\nralph: hint: %s\n' "$1" "$2" >&2
  exit 2
}

# fetch gets a file of the release.
fetch() {
  curl --fail --location --silent --show-error --retry 3 --proto '=https,file' \
    --output "$2" "${RALPH_RELEASES:-$GITHUB_SERVER_URL/$RALPH_ACTION/releases/download}/$version/$1" ||
    die "cannot get $1 of the release $version" 'name a release that there is (ralph: v1.2.3), or set ralph: build'
}

digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

# built_for is this machine as files of a release are called.
built_for() {
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "there is no release for $(uname -m)" 'set ralph: build' ;;
  esac
  printf 'ralph-%s-%s' "$(uname -s | tr '[:upper:]' '[:lower:]')" "$arch"
}

# listed is the checksum of a file in a list that sha256sum wrote.
listed() { sed -n "s/^\([0-9a-f]\{64\}\) [ *]$2\$/\1/p" "$1"; }

# release installs the version $1, or that of this commit.
release() {
  stamp=$source/host/release own=''
  if [ -s "$stamp" ]; then own=$(sed -n 1p "$stamp"); fi
  version=${1:-$own}
  [ -n "$version" ] || die 'this commit of the action is not a release' 'use a released version (@v1), name one (ralph: v1.2.3), or set ralph: build'
  name=$(built_for).tar.gz
  program=$dir/$name
  fetch "$name" "$program"
  if [ "$version" = "$own" ]; then
    want=$(listed "$stamp" "$name")
  else
    fetch SHA256SUMS "$dir/sums"
    want=$(listed "$dir/sums" "$name")
  fi
  got=$(digest "$program")
  if [ "$want" != "$got" ]; then
    rm -f "$program"
    die "$name of the release $version has the checksum $got, not ${want:-one that SHA256SUMS tells}" 'use none that is not what was released: look at where it comes from'
  fi
  tar -xzf "$program" -C "$dir" ralph || die "$name of the release $version holds no ralph" 'name another release (ralph: v1.2.3), or set ralph: build'
  rm -f "$program"
  program=$dir/ralph
  chmod 755 "$program"
}

built() {
  command -v go >/dev/null || die 'there is no Go to build ralph with' 'put actions/setup-go before this step, or set ralph: release'
  (cd "$source" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$dir/ralph" ./cmd/ralph) || die 'ralph could not be built' 'what the compiler said stands above'
  program=$dir/ralph
}

source=$(cd "$(dirname "$0")/.." && pwd)
dir=$RUNNER_TEMP/ralph # which the runner clears away
mkdir -p "$dir"
case ${RALPH_FROM:-release} in
  release) release '' ;;
  v[0-9]*) release "$RALPH_FROM" ;;
  path) program=$(command -v ralph) || die 'there is no ralph on PATH' 'install it on the machine, or set ralph: release' ;;
  build) built ;;
  *) die "ralph cannot be had from $RALPH_FROM" 'set ralph: release, build, path, or a version such as v1.2.3' ;;
esac
"$program" --version || die "$program does not run here" 'is it for this kind of machine?'
printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
