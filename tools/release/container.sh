#!/usr/bin/env bash
# A machine with nothing but Debian, git and curl installs the archive by
# host/install.sh of CHECKOUT, from RELEASES, and runs ralph demo without a network;
# and IMAGE, the one without agents, is started as a runner starts an action.
# tools/image/build.sh runs this with its Docker still up.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=$(docker image inspect ralph-base:here >/dev/null 2>&1 && echo ralph-base:here || sed -n 's/^ARG BASE_IMAGE=//p' Dockerfile)
client=docker
if ! docker buildx version >/dev/null 2>&1 && [ -x /usr/bin/docker ]; then client=/usr/bin/docker; fi
DOCKER_BUILDKIT=1 "$client" build --quiet --network host --tag ralph-bare:here - >/dev/null <<DEBIAN
FROM $base
RUN apt-get update && apt-get install --yes --no-install-recommends git curl && rm -rf /var/lib/apt/lists/*
DEBIAN
# shellcheck disable=SC2016 # for the shell inside
docker run --rm --network none -v "$(readlink -f "$RELEASES/$VERSION"):/releases/$VERSION:ro" -v "$CHECKOUT:/action:ro" ralph-bare:here sh -ec '
  if command -v go; then exit 1; fi
  mkdir /work && cd /work
  RUNNER_TEMP=/work GITHUB_OUTPUT=/work/output RALPH_RELEASES=file:///releases /action/host/install.sh
  /work/ralph/ralph demo >said 2>&1 || { cat said; exit 1; }
  tail -n 12 said'

RALPH_SMALL_IMAGE=$IMAGE go test -count=1 -timeout=3m -run='^TestSmallImageOnARunner$' ./cmd/ralph
