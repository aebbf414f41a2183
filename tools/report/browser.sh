#!/bin/sh
# Prints a Chromium: the one that is named in CHROMIUM or on PATH, else Debian's,
# which it installs.
set -eu
for name in "${CHROMIUM-}" chromium chromium-browser google-chrome; do
	if [ -n "$name" ] && command -v "$name"; then
		exit 0
	fi
done
root=''
[ "$(id -u)" = 0 ] || root=sudo
{
	$root apt-get update -q
	DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core fonts-noto-color-emoji
} >&2
command -v chromium
