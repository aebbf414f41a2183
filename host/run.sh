#!/bin/sh
# Starts ralph on a runner, $RALPH_PROGRAM, with the words that it is given. It is
# root where this user may become that without a password, so that agent and
# checks are a user who owns nothing; else it is who this is, and the level that
# is reached says so. Signals reach ralph itself: no shell stays between.
set -eu
umask 022 # who is behind the wall has to get to where the work lies

if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  # Variables are kept by their names: not every sudo keeps all of them at once,
  # and their values would be for all to see. It has a PATH of its own, without
  # the toolchains that steps have set up.
  names=$(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | tr '\n' ,)
  exec sudo -n "--preserve-env=${names%,}" env "PATH=$PATH" ${HOME:+"HOME=$HOME"} "$RALPH_PROGRAM" "$@"
fi
exec "$RALPH_PROGRAM" "$@"
