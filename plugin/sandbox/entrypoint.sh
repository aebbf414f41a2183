#!/bin/sh
# Lends the sandbox the login that all sandboxes share, and starts Claude Code.
# The folder is mounted where it is on the host; ~/.claude itself never is.
set -eu
state=${DCLAUDE_STATE:-}
if [ -z "$state" ]; then
	for folder in /Users/*/.dclaude_state /home/*/.dclaude_state /root/.dclaude_state; do
		if [ -d "$folder" ]; then
			state=$folder
			break
		fi
	done
fi
if [ -n "$state" ]; then
	mkdir -p "$state/.claude"
	[ -e "$state/.claude.json" ] || echo '{}' >"$state/.claude.json"
	for name in .claude .claude.json; do
		[ -L "$HOME/$name" ] || [ ! -e "$HOME/$name" ] || mv "$HOME/$name" "$HOME/$name.of-the-image"
		ln -sfn "$state/$name" "$HOME/$name"
	done
else
	echo 'dclaude: no ~/.dclaude_state is mounted: the login will not outlive this sandbox' >&2
fi
if [ "${1-}" = claude ]; then
	shift
fi
exec claude --dangerously-skip-permissions "$@"
