#!/bin/sh
set -eu
for argument; do
	case $argument in
	-h | --help) echo 'Usage: ralph-archive.sh [--project-dir PATH] [--label LABEL]'; exit 0 ;;
	esac
done
exec "${RALPH_BIN:-ralph}" archive "$@"
