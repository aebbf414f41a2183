package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// OuterProgram is what the outer program passes to the inner one.
type OuterProgram struct {
	Argv                  []string
	Env                   []string
	Stdin, Stdout, Stderr *os.File
	Signals               <-chan os.Signal // its signals; call signal.Notify before RunOuter
}

// RunOuter runs this same program again as a child, passes signals on, and returns
// the child's exit code, or 128 plus the signal that ended it. However the child
// ends, kill -9 included, all its descendants are then killed. Elsewhere than on
// Linux, descendants that left its group are not.
//
// If both programs are killed at once, a process that has left its session
// survives, unless its sandbox ends it.
//
// The child shares our session, in a group of its own: Ctrl-C reaches us, and we
// pass it on. It gets OrphanedSignal when we die, so that kill -9 of the outer
// program, or of its whole group, leaves nothing behind; see Signals.
func RunOuter(o OuterProgram) (int, error) {
	if len(o.Argv) == 0 {
		return 0, errors.New("run the inner program: no arguments")
	}
	readyRead, readyWrite, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	defer readyRead.Close() //nolint:errcheck // only read
	in, err := startInner(o.Argv, &os.ProcAttr{
		Env:   environ.Merge(o.Env, environ.Pairs(outerMarker, strconv.Itoa(os.Getpid()))),
		Files: []*os.File{o.Stdin, o.Stdout, o.Stderr, readyWrite},
		Sys:   &syscall.SysProcAttr{},
	})
	_ = readyWrite.Close() // the inner has the other end
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	code := in.wait(o.Signals, untilClosed(readyRead))
	if err := EndDescendants(); err != nil {
		return code, fmt.Errorf("end what the inner program left: %w", err)
	}
	return code, nil
}

type innerProcess struct {
	p     *os.Process
	ended <-chan syscall.WaitStatus
}

func untilClosed(pipe *os.File) <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, pipe)
	}()
	return closed
}

// wait passes signals on once the inner program has handlers.
func (in *innerProcess) wait(signals <-chan os.Signal, listens <-chan struct{}) int {
	var last syscall.Signal
	var early []os.Signal
	for {
		select {
		case sig := <-signals:
			last, _ = sig.(syscall.Signal)
			early = append(early, sig)
			if listens == nil {
				in.send(early)
				early = nil
			}
		case <-listens:
			in.send(early)
			early = nil
			listens = nil
		case ws := <-in.ended:
			return exitCode(ws, last)
		}
	}
}

// send passes requests on as ForwardedSignal, and our parent's death as it is.
func (in *innerProcess) send(signals []os.Signal) {
	for _, sig := range signals {
		if sig != OrphanedSignal {
			sig = ForwardedSignal
		}
		_ = in.p.Signal(sig)
	}
}

// exitCode is 130 for a Ctrl-C before the inner program had a handler.
func exitCode(ws syscall.WaitStatus, forwarded syscall.Signal) int {
	code := ResultOf(ws).Exit
	if code == 128+int(ForwardedSignal) && forwarded != 0 {
		return 128 + int(forwarded)
	}
	return code
}

// outerMarker holds the outer program's pid.
const outerMarker = "RALPH_OUTER"

// ForwardedSignal is how the outer program passes on each signal. The inner program has to handle it.
const ForwardedSignal = syscall.SIGUSR1

// OrphanedSignal is the signal that the kernel sends to the inner process when the
// outer one dies. No other process sends it. SIGTERM would not do: it can arrive
// while the outer program is still our parent, and would count as a polite
// request. The inner program has to handle it too.
const OrphanedSignal = syscall.SIGUSR2

// IsInner reports whether this program runs under RunOuter. An inherited marker names another parent.
func IsInner(env func(string) string) bool {
	_, ok := outerOf(env)
	return ok
}

// The inner program closes readyFD when it is ready for signals.
const readyFD = 3

// SignalReady tells the outer program that this program handles ForwardedSignal.
// Call it right after signal.Notify; earlier signals have waited in the outer
// program.
func SignalReady(env func(string) string) {
	if !IsInner(env) {
		return
	}
	var stat syscall.Stat_t
	if syscall.Fstat(readyFD, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	_ = os.NewFile(readyFD, "ready").Close()
}

func outerOf(env func(string) string) (pid int, ok bool) {
	pid, err := strconv.Atoi(env(outerMarker))
	return pid, err == nil && pid == os.Getppid()
}

// Signals counts in the inner program how often it was asked to end. Ctrl-C in a
// terminal reaches it twice, directly and from the outer program; kill reaches
// only one of them. Both count as one request.
type Signals struct {
	Outer  int        // the outer program's pid; 0 if none
	Parent func() int // os.Getppid; may be nil if Outer is 0

	direct, forwarded int
}

// NewSignals returns the Signals of this program.
func NewSignals(env func(string) string) *Signals {
	outer, ok := outerOf(env)
	if !ok {
		return &Signals{}
	}
	return &Signals{Outer: outer, Parent: os.Getppid}
}

// Count counts sig. first: let the current operation end. hard: end at once,
// because of a second request or because the outer program is gone, so that only
// this program can end the agent.
func (s *Signals) Count(sig os.Signal) (first, hard bool) {
	before := s.requests()
	switch {
	case sig == OrphanedSignal:
		return before == 0, true
	case sig != ForwardedSignal:
		s.direct++
	case s.Outer != 0:
		s.forwarded++
	}
	requests := s.requests()
	isRepeated := requests > before && requests > 1
	isOrphaned := s.Outer != 0 && s.Parent() != s.Outer
	return before == 0 && requests == 1, isOrphaned || isRepeated
}

func (s *Signals) requests() int { return max(s.direct, s.forwarded) }
