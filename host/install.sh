#!/bin/sh
# Gets ralph onto a runner, and tells the job where: the output `program`. Asked
# for by RALPH_FROM:
#
#   release  $RALPH_VERSION, by checksum; of RALPH_RELEASES, else of the Action
#            RALPH_ACTION on this server
#   path     one that is on PATH already: nothing is reached
#   build    out of this Action's own source, with the Go that is on PATH
set -eu
umask 022 # who is behind the wall starts it, too

die() {
  printf '::error::%s\n' "$1" >&2
  printf 'ralph: %s\nralph: hint: %s\n' "$1" "$2" >&2
  exit 2
}

# trusted puts the certificates of RALPH_CERTIFICATES beside the machine's own,
# since curl takes one file in the place of all.
trusted() {
  for own in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
    if [ -s "$own" ]; then break; fi
  done
  { cat "$own" 2>/dev/null || true; echo; cat "$RALPH_CERTIFICATES"; } >"$dir/certificates" ||
    die "cannot read the certificates in $RALPH_CERTIFICATES" 'mend ca-bundle: a file of the workspace, or by its whole path'
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

release() {
  [ -n "${RALPH_VERSION:-}" ] || die 'it is not known which release is meant' 'name it: ralph-version: v1.2.3'
  name=$(built_for)
  if [ -n "${RALPH_CERTIFICATES:-}" ]; then trusted; fi
  fetch "$name" "$dir/ralph"
  if [ -z "$want" ]; then
    fetch SHA256SUMS "$dir/sums"
    want=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$name\$/\1/p" "$dir/sums")
  fi
  program=$dir/ralph
  same "$name of the release $RALPH_VERSION"
  chmod 755 "$program"
}

# same ends this where the program is another than the one that is wanted. It
# takes what people call it.
same() {
  got=$(digest "$program")
  if [ "$want" != "$got" ]; then
    rm -f "$dir/ralph"
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
"$program" version || die "$program does not run here" 'is it for this kind of machine?'
printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
