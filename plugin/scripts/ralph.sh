#!/bin/sh
# The flags of the first ralph.sh, for the ralph of today.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
ralph=${RALPH_BIN:-ralph}
usage='Usage: ralph.sh [OPTIONS]
  -n, --max-iterations N    Max loop iterations (default: 10)
  --ralph-dir PATH          Path to ralph/ directory (default: ./ralph)
  -d, --project-dir PATH    Project root (default: cwd)
  -m, --model MODEL         Claude model to use (e.g., opus, sonnet)
  --sandbox                 Force Docker Sandbox mode (error if unavailable)
  --no-sandbox              Force direct mode with PreToolUse hook blocklist
  -h, --help                Show usage'
fail() { printf 'ralph.sh: %s\nralph.sh: hint: %s\n' "$1" "$2" >&2; exit 2; }

iterations=10 memory='' project=$PWD model='' mode=auto
while [ $# -gt 0 ]; do
	case $1 in
	-n | --max-iterations | --ralph-dir | -d | --project-dir | -m | --model)
		[ $# -ge 2 ] || fail "$1 needs a value" 'see ralph.sh --help' ;;
	esac
	case $1 in
	-n | --max-iterations) iterations=$2; shift ;;
	--ralph-dir) memory=$2; shift ;;
	-d | --project-dir) project=$2; shift ;;
	-m | --model) model=$2; shift ;;
	--sandbox) mode=docker ;;
	--no-sandbox) mode=direct ;;
	-h | --help) printf '%s\n' "$usage"; exit 0 ;;
	*) fail "no such option: $1" 'see ralph.sh --help' ;;
	esac
	shift
done
command -v "$ralph" >/dev/null 2>&1 || fail "the program $ralph is not on PATH" 'install it, or name it in RALPH_BIN'
project=$(CDPATH='' cd -- "$project" 2>/dev/null && pwd) || fail 'no such project folder' 'name another with -d'
memory=${memory#"$project"/}

if [ "$mode" = auto ]; then
	mode=docker
	if ! docker sandbox ls >/dev/null 2>&1; then
		mode=direct missing='Docker sandboxes are not available: they need Docker Desktop 4.58 or later with sandboxes enabled'
	elif ! docker image inspect dclaude:latest >/dev/null 2>&1; then
		mode=direct missing="no Docker image dclaude:latest: docker build -t dclaude:latest $here/../sandbox"
	fi
	[ $mode = docker ] || printf 'ralph.sh: %s\nralph.sh: going on without: nothing is contained, only the guard of the hooks prevents accidents\n' "$missing" >&2
fi

set -- run --agent claude --project-dir "$project" --max-iterations "$iterations"
[ -z "$memory" ] || set -- "$@" --ralph-dir "$memory"
[ -z "$model" ] || set -- "$@" --model "$model"
if [ $mode = direct ]; then
	exec "$ralph" "$@" --no-sandbox
fi
exec "$ralph" "$@" --sandbox=docker
