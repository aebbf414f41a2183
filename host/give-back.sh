#!/bin/sh
# What root wrote into the workspace is its owner's again, for the steps that
# follow and for the job that comes next.
set -eu

for folder in .ralph .ralph-out; do
  if [ "$(id -u)" -ne 0 ] && [ -d "$GITHUB_WORKSPACE/$folder" ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo -n chown -R -h "$(id -u):$(id -g)" "$GITHUB_WORKSPACE/$folder"
  fi
done
