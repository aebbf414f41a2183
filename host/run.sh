#!/bin/sh
# Starts ralph on a runner, $RALPH_PROGRAM, with the words that it is given. It is
# root where this user may become that without a password, so that agent and
# checks are a user who owns nothing; else it is who this is, and the level that
# is reached says so. Signals reach ralph itself: no shell stays between.
set -eu
umask 022 # who is behind the sandbox has to get to where the work lies
export RALPH_RUNNER_PID="$PPID" # ralph ends when this process does

if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  # sudo before 1.9.13 drops signals from its own process group, which is the
  # runner's. setsid makes a new one and keeps the pid, except for a group's leader.
  read -r _ _ _ _ group _ 2>/dev/null <"/proc/$$/stat" || group=$$
  if [ "$group" -ne "$$" ] && command -v setsid >/dev/null; then
    exec setsid sh "$0" "$@"
  fi
  # Variables come by standard input, the toolchains' PATH among them: not every
  # sudo keeps them when told to, and some write them into a log then.
  # shellcheck disable=SC2016 # for the other shell
  exec sudo -n /bin/sh -c 'eval "$(cat)"; exec "$@" </dev/null' sh "$RALPH_PROGRAM" "$@" <<VARIABLES
$(export -p)
VARIABLES
fi
exec "$RALPH_PROGRAM" "$@"
