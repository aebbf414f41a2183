#!/bin/sh
set -eu
for argument; do
	case $argument in
	-h | --help) echo 'Usage: ralph-init.sh [--project-dir PATH] [--name FEATURE_NAME]'; exit 0 ;;
	esac
done
exec "${RALPH_BIN:-ralph}" init --prd "$@"
