#!/bin/sh
# Starts ralph on a runner, $RALPH_PROGRAM, with the words that it is given. It is
# root where this user may become that without a password, so that agent and
# checks are a user who owns nothing; else it is who this is, and the level that
# is reached says so. Signals reach ralph itself: no shell stays between.
set -eu

if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  # sudo has a PATH of its own, without the toolchains that steps have set up.
  exec sudo -n -E env "PATH=$PATH" "HOME=$HOME" "$RALPH_PROGRAM" "$@"
fi
exec "$RALPH_PROGRAM" "$@"
