#!/usr/bin/env bash
# The image $IMAGE as a runner starts it, and as act does ($ACT): label to pull
# request, with the agents that are in it, against stand-ins for GitHub and for
# the model.
set -euo pipefail
cd "$(dirname "$0")/../.."
RALPH_IMAGE=$IMAGE go test -count=1 -timeout=5m -run='^TestImage|UnderAct$' ./cmd/ralph
