//go:build !windows

// Command ralph turns an issue into a pull request whose checks passed on a clean checkout.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// unreleased is the version of a program that was built from a checkout.
const unreleased = "dev"

// version is set when a release is built, and when `go install` builds one.
var version = unreleased

func main() {
	if version == unreleased {
		version = moduleVersion(debug.ReadBuildInfo())
	}
	os.Exit(start(newWorld()))
}

// moduleVersion returns the version that `go install MODULE@VERSION` wrote into a program.
func moduleVersion(info *debug.BuildInfo, known bool) string {
	if !known || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return unreleased
	}
	return info.Main.Version
}

type world struct {
	laptop.World
	args    []string
	every   time.Duration       // least time between two edits of a comment
	pace    *github.RetryPolicy // for calls to GitHub; nil: the default
	signals chan os.Signal
}

func newWorld() world {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	self, _ := os.Executable() // it fails without /proc, which ending processes needs, too
	return world{
		World: laptop.World{
			Getenv:  os.Getenv,
			Environ: os.Environ,
			Now:     time.Now,
			Stdin:   os.Stdin,
			Stdout:  os.Stdout,
			Stderr:  os.Stderr,
			Self:    self,
			Version: version,
			System:  runtime.GOOS,
			Closing: new([]func()),
		},
		args:    os.Args[1:],
		every:   every,
		signals: signals,
	}
}

// start runs the command that was typed, or becomes a sandbox's launcher.
func start(w world) int {
	debug.SetGCPercent(200) // the heap is small: by default, garbage collection would run all the time
	if len(w.args) > 0 && w.args[0] == sandbox.Hidden {
		return launch(w)
	}
	_ = process.CloseOnExecFrom(3) // after an error, the sandbox's launcher closes what is open
	typed, done, err := parse(w)
	if err != nil || done {
		return report(w.Stderr, err)
	}
	runner, err := strconv.Atoi(w.Getenv(runnerVariable))
	hasRunner := err == nil
	if hasRunner || typed.drains {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // otherwise ralph ends, and the agent does not
	}
	switch {
	case hasRunner:
		go interruptWithoutRunner(runner, w.signals)
	case typed.drains:
		go interruptWithoutReader(w.signals)
	}
	return runTyped(w, typed)
}

// interruptWithoutReader ends the command at once when its output is a pipe without a reader, as after head. A terminal
// that closes sends SIGHUP instead, which leaves time for the current step, or is ignored.
func interruptWithoutReader(signals chan<- os.Signal) {
	outputs := []unix.PollFd{{Fd: 1}, {Fd: 2}}
	_, err := unix.Poll(outputs, -1)
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Poll(outputs, -1)
	}
	for _, output := range outputs {
		if output.Revents == unix.POLLERR { // a closed terminal has POLLHUP, too
			signals <- syscall.SIGPIPE
			signals <- syscall.SIGPIPE // the second signal ends the command at once
			return
		}
	}
}

// runnerVariable has the pid of the runner if host/run.sh started ralph.
const runnerVariable = "RALPH_RUNNER_PID"

// interruptWithoutRunner asks the command to end when the runner has ended, or the parent: it can be a sudo in between.
func interruptWithoutRunner(runner int, signals chan<- os.Signal) {
	parent := os.Getppid()
	for os.Getppid() == parent && !errors.Is(syscall.Kill(runner, 0), syscall.ESRCH) {
		time.Sleep(time.Second)
	}
	signals <- syscall.SIGTERM
}

// runTyped runs a command. The first signal asks it to end, and the second ends it.
func runTyped(w world, typed chosen) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer func() {
		for _, cleanUp := range *w.Closing {
			cleanUp()
		}
	}()
	hard := make(chan struct{})
	drain := make(chan struct{})
	w.Runner = &process.Runner{Now: w.Now, Hard: hard}
	w.Drain = drain
	w.StopGrace = new(atomic.Int64)
	w.StopGrace.Store(int64(laptop.DefaultStopGrace))
	askToEnd := func() { cancel(errInterrupted) }
	endNow := func() {
		close(hard) // first, so that no step begins to save work
		cancel(errInterrupted)
	}
	announced := make(chan struct{}) // closed once the message about the signal is printed
	if typed.drains {
		askToEnd = func() {
			close(drain) // before the message, which announces it
			fmt.Fprintln(w.Stderr, "Received signal, shutting down...")
			close(announced)
			time.AfterFunc(time.Duration(w.StopGrace.Load()), func() { cancel(errInterrupted) })
		}
	}
	go func() {
		<-w.signals
		askToEnd()
		<-w.signals
		endNow()
	}()
	code, err := typed.run(ctx, w)
	if process.IsClosed(drain) {
		<-announced
	}
	if err != nil && ctx.Err() != nil {
		err = &fault.Fault{What: "interrupted", Fix: typed.again, Exit: fault.ExitInterrupted, Err: err}
	}
	if err != nil {
		return report(w.Stderr, err)
	}
	return code
}

var errInterrupted = errors.New("interrupted by a signal")

// report prints an error, and returns the exit code. Nothing else prints errors.
func report(to io.Writer, err error) int {
	if err == nil {
		return fault.ExitDone
	}
	printError(to, err)
	return fault.Exit(err)
}

// launch runs the sandbox's launcher, which becomes the sandboxed program.
func launch(w world) int {
	err := sandbox.Launch(sandbox.Launcher{
		Args: w.args[1:],
		Env:  w.Environ(),
		Exit: syscall.Exit, // there is nothing to clean up
		Hear: func(all ...os.Signal) <-chan os.Signal {
			heard := make(chan os.Signal, 1)
			signal.Notify(heard, all...)
			return heard
		},
	})
	if errors.As(err, new(sandbox.ReportedError)) {
		return fault.Exit(err)
	}
	return report(w.Stderr, err)
}
