#!/usr/bin/env bash
# Builds the files of a release into dist/: build.sh VERSION [snapshot]. The same
# commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
args=(--clean --config .goreleaser.yaml)
if [ "${2:-}" = snapshot ]; then args+=(--snapshot); else args+=(--skip=validate,publish,announce); fi
GORELEASER_CURRENT_TAG=$1 "${GORELEASER:-goreleaser}" release "${args[@]}"
