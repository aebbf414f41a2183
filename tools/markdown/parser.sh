#!/bin/sh
# Prints GitHub's own parser of Markdown: the one on PATH, else Debian's, which it installs.
set -eu
if command -v cmark-gfm; then
	exit 0
fi
root=''
[ "$(id -u)" = 0 ] || root=sudo
{
	$root apt-get update -q
	DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q --no-install-recommends cmark-gfm
} >&2
command -v cmark-gfm
