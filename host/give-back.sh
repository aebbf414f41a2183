#!/bin/sh
# What root wrote is its owner's again, for the steps that follow and for the job
# that comes next.
set -eu

for folder in "$GITHUB_WORKSPACE/.ralph" "$GITHUB_WORKSPACE/.ralph-out" "$RUNNER_TEMP"/ralph-agent-*; do
  if [ "$(id -u)" -ne 0 ] && [ -d "$folder" ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo -n chown -R -h "$(id -u):$(id -g)" "$folder"
  fi
done
