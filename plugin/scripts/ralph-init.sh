#!/bin/sh
# Usage: ralph-init.sh [--project-dir PATH] [--name FEATURE_NAME]
set -eu
for argument; do
	case $argument in
	-h | --help) sed -n 's/^# \(Usage\)/\1/p' "$0"; exit 0 ;;
	esac
done
exec "${RALPH_BIN:-ralph}" init --prd "$@"
