#!/usr/bin/env bash
# Tells whether make image and make container can do anything here: a daemon of
# Docker answers, or one can be had and starts.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/container/docker.sh
. tools/container/docker.sh
trap docker_down EXIT
docker_up "$dir/data"
