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
	every   time.Duration       // the least time between two edits of a comment
	pace    *github.RetryPolicy // of calls to GitHub; nil: the usual one
	signals chan os.Signal
}

func newWorld() world {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	self, _ := os.Executable() // fails without /proc, without which no child can be ended
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
	// It holds so little that its memory would be tidied up all the time.
	debug.SetGCPercent(200)
	if len(w.args) > 0 && w.args[0] == sandbox.Hidden {
		return launch(w)
	}
	_ = process.CloseOnExecFrom(3) // where it cannot be done, the launcher of those inside looks again
	typed, done, err := parse(w)
	if err != nil || done {
		return report(w.Stderr, err)
	}
	runner, err := strconv.Atoi(w.Getenv(runnerVariable))
	hasRunner := err == nil
	if hasRunner || typed.drains {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // which would leave the agent alone
	}
	switch {
	case hasRunner:
		go endWithRunner(runner, w.signals)
	case typed.drains:
		go endWithReader(w.signals)
	}
	return work(w, typed)
}

// endWithReader ends us at once when our output is a pipe without a reader, as with head. A terminal that closes sends
// SIGHUP instead, which leaves time for the current step, or is ignored.
func endWithReader(signals chan<- os.Signal) {
	outputs := []unix.PollFd{{Fd: 1}, {Fd: 2}}
	_, err := unix.Poll(outputs, -1)
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Poll(outputs, -1)
	}
	for _, output := range outputs {
		if output.Revents == unix.POLLERR { // a closed terminal has POLLHUP, too
			signals <- syscall.SIGPIPE
			signals <- syscall.SIGPIPE // as it would end any program
			return
		}
	}
}

// runnerVariable has the pid of the runner if host/run.sh started us.
const runnerVariable = "RALPH_RUNNER_PID"

// endWithRunner asks the program to end when the runner is gone, or the sudo between the two: neither ends the other.
func endWithRunner(runner int, signals chan<- os.Signal) {
	for parent := os.Getppid(); os.Getppid() == parent && !errors.Is(syscall.Kill(runner, 0), syscall.ESRCH); {
		time.Sleep(time.Second)
	}
	signals <- syscall.SIGTERM
}

func work(w world, typed chosen) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer func() {
		for _, do := range *w.Closing {
			do()
		}
	}()
	hard := make(chan struct{})
	drain := make(chan struct{})
	w.Runner = &process.Runner{Now: w.Now, Hard: hard}
	w.Drain = drain
	w.StopGrace = new(atomic.Int64)
	w.StopGrace.Store(int64(laptop.DefaultStopGrace))
	ask := func() { cancel(errInterrupted) }
	end := func() {
		close(hard) // first, so that no step begins to save work
		cancel(errInterrupted)
	}
	announced := make(chan struct{}) // closed once the message about the signal is printed
	if typed.drains {
		ask = func() {
			close(drain) // first: who has read the words may count on them
			fmt.Fprintln(w.Stderr, "Received signal, shutting down...")
			close(announced)
			time.AfterFunc(time.Duration(w.StopGrace.Load()), func() { cancel(errInterrupted) })
		}
	}
	go obey(w.signals, ask, end)
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

// obey asks the command to end at the first signal, and ends it at the second.
func obey(signals <-chan os.Signal, ask, end func()) {
	<-signals
	ask()
	<-signals
	end()
}

// report alone prints errors.
func report(to io.Writer, err error) int {
	if err == nil {
		return fault.ExitDone
	}
	printError(to, err)
	return fault.Exit(err)
}

// launch returns a sandbox's launcher, which becomes another program.
func launch(w world) int {
	err := sandbox.Launch(sandbox.Launcher{
		Args: w.args[1:],
		Env:  w.Environ(),
		Exit: syscall.Exit, // it has nothing to put in order
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
