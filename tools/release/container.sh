#!/usr/bin/env bash
# A machine with nothing but Debian, git and curl installs the archive by
# host/install.sh and runs ralph demo, without a network: container.sh VERSION
# RELEASES CHECKOUT. Docker is up.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$1 releases=$2 checkout=$3
base=$(docker image inspect ralph-base:here >/dev/null 2>&1 && echo ralph-base:here || sed -n 's/^ARG BASE_IMAGE=//p' Dockerfile)
client=docker
if ! docker buildx version >/dev/null 2>&1 && [ -x /usr/bin/docker ]; then client=/usr/bin/docker; fi
DOCKER_BUILDKIT=1 "$client" build --quiet --network host --tag ralph-bare:here - >/dev/null <<DEBIAN
FROM $base
RUN apt-get update && apt-get install --yes --no-install-recommends git curl && rm -rf /var/lib/apt/lists/*
DEBIAN
# shellcheck disable=SC2016 # for the shell inside
docker run --rm --network none -v "$(readlink -f "$releases/$version"):/releases/$version:ro" -v "$checkout:/action:ro" ralph-bare:here sh -ec '
  if command -v go; then exit 1; fi
  mkdir /work && cd /work
  RUNNER_TEMP=/work GITHUB_OUTPUT=/work/output RALPH_RELEASES=file:///releases /action/host/install.sh
  /work/ralph/ralph demo >said 2>&1 || { cat said; exit 1; }
  tail -n 12 said'
