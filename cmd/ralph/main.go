// Command ralph turns an issue into a pull request whose checks passed on a
// clean checkout.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
)

// version is set when a release is built.
var version = "dev"

func main() {
	os.Exit(start(here()))
}

// world is all that a command may touch of the process it runs in.
type world struct {
	args    []string
	env     func(string) string
	now     func() time.Time
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File
	runner  *process.Runner
	signals chan os.Signal
}

// here is this very process.
func here() world {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, process.Forwarded)
	return world{
		args: os.Args[1:], env: os.Getenv, now: time.Now,
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, signals: signals,
	}
}

// start runs the program: the outer one sees to it that nothing outlives the
// inner, which does the work.
func start(w world) int {
	command, done, err := parse(w)
	if err != nil || done {
		return report(w.stderr, err)
	}
	if command.guarded() && !process.Inner(os.Getenv) {
		code, err := process.Outer(process.Outside{
			Argv: os.Args, Env: os.Environ(), Stdin: w.stdin, Stdout: w.stdout, Stderr: w.stderr, Signals: w.signals,
		})
		if err != nil {
			return report(w.stderr, err)
		}
		return code
	}
	return inner(w, command)
}

// inner runs the command itself.
func inner(w world, command command) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	hard := make(chan struct{})
	w.runner = &process.Runner{Now: w.now, Hard: hard}
	go obey(w.signals, cancel, hard)
	code, err := command.run(ctx, w)
	if err != nil {
		return report(w.stderr, err)
	}
	return code
}

var errInterrupted = errors.New("interrupted by a signal")

// obey ends the work at the first signal and takes away its grace at the
// second.
func obey(signals <-chan os.Signal, cancel context.CancelCauseFunc, hard chan<- struct{}) {
	counted := process.CountSignals(os.Getenv)
	ended := false
	for sig := range signals {
		_, now := counted.Seen(sig)
		cancel(errInterrupted)
		if now && !ended {
			ended = true
			close(hard)
		}
	}
}

// report says what went wrong and what to do about it. It is the only one who
// prints an error.
func report(to io.Writer, err error) int {
	if err == nil {
		return fault.ExitDone
	}
	complain(to, err)
	return fault.Exit(err)
}
