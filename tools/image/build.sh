#!/usr/bin/env bash
# Builds the image as $IMAGE, or ralph:here, and says how large each layer is.
#
# What it is built from is pulled, and taken by its digest, where a registry is
# reached. Where none is, that is made here: Debian by debootstrap, Go and node
# as this machine has them. AGENTS, TOOLCHAIN, VERSION, GOPROXY, GOSUMDB and
# NPM_CONFIG_REGISTRY are handed on; CERTIFICATES is a file of those to trust.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/container/docker.sh
. tools/container/docker.sh
trap docker_down EXIT

image=${IMAGE:-ralph:here}
certificates=${CERTIFICATES:-${SSL_CERT_FILE:-}}
args=()

# build builds with BuildKit, which newer clients have as a plug-in and Debian's
# has built in.
build() {
  local client=docker
  if docker buildx version >/dev/null 2>&1; then
    docker buildx build --load "$@"
    return
  fi
  if [ -x /usr/bin/docker ]; then client=/usr/bin/docker; fi
  DOCKER_BUILDKIT=1 "$client" build "$@"
}

# named is an image that Dockerfile names: of GO_IMAGE and so on.
named() { sed -n "s/^ARG $1=//p" Dockerfile; }

# pulled takes all three from a registry, or none.
pulled() {
  local name digest
  for name in GO_IMAGE NODE_IMAGE BASE_IMAGE; do
    timeout 300 docker pull --quiet "$(named $name)" >/dev/null 2>"$dir/why" || return 1
    digest=$(docker image inspect --format '{{index .RepoDigests 0}}' "$(named $name)")
    args+=(--build-arg "$name=$digest")
  done
  args+=(--build-arg "BASE_NAME=$digest")
}

# made has stand-ins for them: the Debian alone is in the image.
made() {
  command -v debootstrap >/dev/null || install debootstrap
  local root=$dir/root goroot modules
  if ! docker image inspect ralph-base:here >/dev/null 2>&1; then
    debootstrap --variant=minbase bookworm "$root" >"$dir/log" 2>&1 || { tail -n 5 "$dir/log" >&2; die 'no Debian can be made here: see above'; }
    # as the slim one is
    rm -rf "$root"/usr/share/{doc,info,lintian,locale,man}/* "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    tar -C "$root" -c . | docker import - ralph-base:here >/dev/null
  fi
  goroot=$(go env GOROOT)
  build --quiet --tag ralph-go:here --file - "$goroot" >/dev/null <<<$'FROM ralph-base:here\nENV PATH=/usr/local/go/bin:/usr/bin:/bin\nCOPY . /usr/local/go'
  mkdir -p "$dir"/node/{bin,lib/node_modules}
  modules=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")")
  cp "$(readlink -f "$(command -v node)")" "$dir/node/bin/node"
  cp -R "$modules/npm" "$dir/node/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$dir/node/bin/npm"
  build --quiet --tag ralph-node:here --file - "$dir/node" >/dev/null <<<$'FROM ralph-base:here\nCOPY . /usr/local'
  args+=(--build-arg GO_IMAGE=ralph-go:here --build-arg NODE_IMAGE=ralph-node:here --build-arg BASE_IMAGE=ralph-base:here --build-arg BASE_NAME=debootstrap)
}

docker_up "${XDG_CACHE_HOME:-$HOME/.cache}/ralph/docker"
step 'what it is built from'
pulled || { tail -n 1 "$dir/why" >&2; echo 'no registry is reached: Debian, Go and node as they are had here'; args=(); made; }
for name in AGENTS TOOLCHAIN VERSION GOPROXY GOSUMDB NPM_CONFIG_REGISTRY; do
  if [ -n "${!name:-}" ]; then args+=(--build-arg "$name=${!name}"); fi
done
if [ -s "$certificates" ]; then args+=(--secret "id=certificates,src=$certificates"); fi
if [ -n "$own" ]; then args+=(--network host); fi # our daemon has no other way out

step "$image"
build "${args[@]}" --tag "$image" .
if [ -n "$own" ]; then docker image prune --force >/dev/null; fi # the one before
docker history --no-trunc --format '{{.Size}}	{{.CreatedBy}}' "$image" | grep -v '^0B' | cut -c1-150
docker image inspect --format 'all of it: {{.Size}} bytes' "$image"
for then in "$@"; do # with our own daemon still there
  step "$then"
  IMAGE=$image "$then"
done
step 'built'
