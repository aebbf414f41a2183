#!/bin/sh
# Gets ralph onto a runner, and tells the job where: the output `program`. Asked
# for by RALPH_FROM:
#
#   release  the archive of $RALPH_VERSION, by checksum. A released commit has
#            host/release: its own version and checksums, which hold unless
#            another version is given. RALPH_RELEASES is the folder of all
#            releases, else the Action RALPH_ACTION on this server.
#   path     one that is on PATH already: nothing is reached
#   build    out of this Action's own source, with the Go that is on PATH
set -eu
umask 022 # who is behind the sandbox starts it, too

die() {
  printf '::error::%s\n' "$1" >&2
  printf 'ralph: %s\nralph: hint: %s\n' "$1" "$2" >&2
  exit 2
}

# trusted puts the certificates of RALPH_CERTIFICATES beside the machine's own,
# since curl takes one file instead of all.
trusted() {
  for own in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
    if [ -s "$own" ]; then break; fi
  done
  { cat "$own" 2>/dev/null || true; echo; cat "$RALPH_CERTIFICATES"; } >"$dir/certificates" ||
    die "cannot read the certificates in $RALPH_CERTIFICATES" 'set ca-bundle to a file of the workspace, or to a full path'
}

# fetch gets a file of the release. A company's proxy and certificates are those
# that ralph gets.
fetch() {
  curl --fail --location --silent --show-error --retry 3 --proto '=https,file' \
    ${RALPH_PROXY:+--proxy "$RALPH_PROXY"} ${RALPH_CERTIFICATES:+--cacert "$dir/certificates"} \
    --output "$2" "${RALPH_RELEASES:-$GITHUB_SERVER_URL/$RALPH_ACTION/releases/download}/$RALPH_VERSION/$1" ||
    die "cannot get $1 of the release $RALPH_VERSION" 'name a release that there is (ralph-version), or say ralph-from: path or build'
}

digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

# built_for is this machine as files of a release are called.
built_for() {
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "there is no release for $(uname -m)" 'say ralph-from: build' ;;
  esac
  printf 'ralph-%s-%s' "$(uname -s | tr '[:upper:]' '[:lower:]')" "$arch"
}

# listed is the checksum of a file in a list that sha256sum wrote.
listed() { sed -n "s/^\([0-9a-f]\{64\}\) [ *]$2\$/\1/p" "$1"; }

release() {
  stamp=$source/host/release own=''
  if [ -s "$stamp" ]; then own=$(sed -n 1p "$stamp"); fi
  RALPH_VERSION=${RALPH_VERSION:-$own}
  [ -n "$RALPH_VERSION" ] || die 'this commit of the action is not a release' 'use a released version (@v1), name one (ralph-version: v1.2.3), or set ralph-from: build'
  name=$(built_for).tar.gz
  if [ -n "${RALPH_CERTIFICATES:-}" ]; then trusted; fi
  program=$dir/$name
  fetch "$name" "$program"
  if [ -z "$want" ] && [ "$RALPH_VERSION" = "$own" ]; then want=$(listed "$stamp" "$name"); fi
  if [ -z "$want" ]; then
    fetch SHA256SUMS "$dir/sums"
    want=$(listed "$dir/sums" "$name")
  fi
  same "$name of the release $RALPH_VERSION"
  tar -xzf "$program" -C "$dir" ralph || die "$name of the release $RALPH_VERSION holds no ralph" 'name another release (ralph-version), or set ralph-from: build'
  rm -f "$program"
  program=$dir/ralph
  chmod 755 "$program"
}

# same ends this unless the file $program has the checksum that is wanted. It
# takes the file's name for people.
same() {
  got=$(digest "$program")
  if [ "$want" != "$got" ]; then
    case $program in "$dir"/*) rm -f "$program" ;; esac
    die "$1 has the checksum $got, not ${want:-one that SHA256SUMS tells}" 'use none that is not what was released: look at where it comes from'
  fi
}

built() {
  command -v go >/dev/null || die 'there is no Go to build ralph with' 'put actions/setup-go before this step, or say ralph-from: release'
  (cd "$source" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$dir/ralph" ./cmd/ralph) || die 'ralph could not be built' 'what the compiler said stands above'
  program=$dir/ralph
}

source=$(cd "$(dirname "$0")/.." && pwd)
dir=$RUNNER_TEMP/ralph # which the runner clears away
mkdir -p "$dir"
# As other tools write it, and GitHub on a release's page.
want=$(printf '%s' "${RALPH_CHECKSUM:-}" | tr '[:upper:]' '[:lower:]' | tr -d '[:space:]')
want=${want#sha256:}
case ${RALPH_FROM:-release} in
  release) release ;;
  path)
    program=$(command -v ralph) || die 'there is no ralph on PATH' 'install it on the machine, or say ralph-from: release'
    if [ -n "$want" ]; then same "$program"; fi
    ;;
  build) built ;;
  *) die "ralph cannot be had from $RALPH_FROM" 'say ralph-from: release, path or build' ;;
esac
"$program" --version || die "$program does not run here" 'is it for this kind of machine?'
printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
