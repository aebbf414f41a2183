#!/bin/sh
# Usage: ralph-archive.sh [--project-dir PATH] [--label LABEL]
set -eu
for argument; do
	case $argument in
	-h | --help) sed -n 's/^# \(Usage\)/\1/p' "$0"; exit 0 ;;
	esac
done
exec "${RALPH_BIN:-ralph}" archive "$@"
