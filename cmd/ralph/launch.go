package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// launched tells whether we are the launcher of somebody who is to be confined:
// that comes before everything else, as it holds descriptors, lives by other
// signals, and becomes another program.
func launched(w world) bool { return len(w.args) > 0 && w.args[0] == sandbox.Hidden }

// launch becomes that program, or says why not.
func launch(w world) int {
	err := sandbox.Launch(sandbox.Launcher{
		Args: w.args[1:], Env: w.Environ(), Exit: syscall.Exit, // it has nothing to put in order
		Deaf: func(all ...os.Signal) { signal.Notify(make(chan os.Signal, 1), all...) },
	})
	if errors.As(err, new(sandbox.Told)) {
		return fault.Exit(err)
	}
	return report(w.Stderr, err)
}
