package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/environ"
)

// OuterProgram is what the outer program lends the inner: all it has.
type OuterProgram struct {
	Argv                  []string
	Env                   []string
	Stdin, Stdout, Stderr *os.File
	Signals               <-chan os.Signal // what the program was asked; notify before Outer
}

// RunOuter runs this same program again as a child, passes signals on, and returns
// the child's exit code, or 128 plus the signal that ended it. Whatever the
// child ended of, kill -9 included, everything that descends from it is then
// killed. On Linux; elsewhere what left the child's hands is out of reach.
//
// On Linux the child is a guard, which runs the inner program in the same way. If
// the outer and the inner are killed at once, the guard kills what the inner has
// left. If all three are killed, a process that has left its session stays.
//
// The child shares our session, in a group of its own: Ctrl-C reaches us, and
// it through us. It gets Orphaned when we die, so that kill -9 of the outer, or
// of its whole group, leaves nothing either; see Signals.
func RunOuter(o OuterProgram) (int, error) {
	if len(o.Argv) == 0 {
		return 0, errors.New("run the inner program: no arguments")
	}
	ear, voice, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	defer ear.Close() //nolint:errcheck // only read
	argv, env := o.childCommand()
	in, err := startInner(argv, &os.ProcAttr{
		Env:   env,
		Files: []*os.File{o.Stdin, o.Stdout, o.Stderr, voice},
		Sys:   &syscall.SysProcAttr{},
	})
	_ = voice.Close() // the inner has the other end
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	code := in.wait(o.Signals, untilClosed(ear))
	if err := sweepDescendants(); err != nil {
		return code, fmt.Errorf("end what the inner program left: %w", err)
	}
	return code, nil
}

// guardName is the guard's name in the list of processes: a kill by the program's
// name does not reach the guard.
const guardName = "process-guard"

// childCommand is the child's command line and environment: the guard's, or those of the
// inner program where we are the guard or the system has no use for one.
func (o OuterProgram) childCommand() (argv, env []string) {
	env = withoutVariable(withoutVariable(o.Env, outerMarker), guardMarker)
	own := strconv.Itoa(os.Getpid())
	_, name, guard := parentFromMarker(func(name string) string { return environ.Get(o.Env, name) }, guardMarker)
	switch {
	case guard:
		argv = append([]string{name}, o.Argv[1:]...)
	case hasGuard:
		return append([]string{guardName}, o.Argv[1:]...), append(env, guardMarker+"="+own+" "+o.Argv[0])
	default:
		argv = o.Argv
	}
	return argv, append(env, outerMarker+"="+own)
}

// innerProcess is the program under way as our child.
type innerProcess struct {
	p     *os.Process
	ended <-chan syscall.WaitStatus
}

// untilClosed is closed once no process holds the other end of ear.
func untilClosed(ear *os.File) <-chan struct{} {
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = io.Copy(io.Discard, ear)
	}()
	return heard
}

// wait passes signals on once the inner listens: while a program of Go is
// coming up, it loses those that it was not notified of yet.
func (in *innerProcess) wait(signals <-chan os.Signal, listens <-chan struct{}) int {
	var last syscall.Signal
	var early []os.Signal
	for {
		select {
		case sig := <-signals:
			last, _ = sig.(syscall.Signal)
			if early = append(early, sig); listens == nil {
				in.send(early)
				early = nil
			}
		case <-listens:
			in.send(early)
			listens, early = nil, nil
		case ws := <-in.ended:
			return exitCode(ws, last)
		}
	}
}

// send passes signals on: a request as Forwarded, our parent's death as it is.
func (in *innerProcess) send(signals []os.Signal) {
	for _, sig := range signals {
		if sig != OrphanedSignal {
			sig = ForwardedSignal
		}
		_ = in.p.Signal(sig)
	}
}

// exitCode says 130 for a Ctrl-C that came before the inner was up to handle it,
// and not that it died of the signal by which it was told.
func exitCode(ws syscall.WaitStatus, forwarded syscall.Signal) int {
	code := ws.ExitStatus()
	if ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	if code == 128+int(ForwardedSignal) && forwarded != 0 {
		return 128 + int(forwarded)
	}
	return code
}

// outerMarker names, in the inner program's environment, the pid of its outer, and
// guardMarker in the guard's, with the name that the program was started by.
const (
	outerMarker = "RALPH_OUTER"
	guardMarker = "RALPH_GUARD"
)

// ForwardedSignal is the signal by which the outer passes on each one that it gets.
// The inner has to be notified of it beside SIGINT and SIGTERM.
const ForwardedSignal = syscall.SIGUSR1

// OrphanedSignal is the signal that the kernel sends to the inner process when the
// outer dies. No other process sends it. SIGTERM would not do: it may arrive
// while the outer is still our parent, and would be taken for a polite request.
// The inner must be notified of it too.
const OrphanedSignal = syscall.SIGUSR2

// IsInner tells whether this program runs under Outer. A marker that went astray
// into a grandchild's environment does not count: it names another parent.
func IsInner(env func(string) string) bool {
	_, _, is := parentFromMarker(env, outerMarker)
	return is
}

// IsGuard tells whether this program is the guard: it calls Outer and does nothing
// else.
func IsGuard(env func(string) string) bool {
	_, _, is := parentFromMarker(env, guardMarker)
	return is
}

// readyFD is the descriptor by which the inner says that it listens.
const readyFD = 3

// SignalReady tells the outer that this program was notified of Forwarded: what
// came before has waited there. It comes right after that.
func SignalReady(env func(string) string) {
	var stat syscall.Stat_t
	if !IsInner(env) && !IsGuard(env) || syscall.Fstat(readyFD, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	_ = os.NewFile(readyFD, "voice").Close()
}

// parentFromMarker is the pid that a marker names, and what follows the pid; is tells whether
// the pid is our parent's.
func parentFromMarker(env func(string) string, marker string) (pid int, rest string, is bool) {
	number, rest, _ := strings.Cut(env(marker), " ")
	pid, err := strconv.Atoi(number)
	return pid, rest, err == nil && pid == os.Getppid()
}

// Signals counts in the inner program how often it was asked to end. Ctrl-C in
// a terminal reaches it twice, by itself and from the outer; kill reaches only
// the one that it names. Either is one request.
type Signals struct {
	Outer  int        // the outer's pid; 0 when there is none
	Parent func() int // os.Getppid; may be nil when there is no outer

	direct, forwarded int
}

// NewSignals is the Signals of this program.
func NewSignals(env func(string) string) *Signals {
	outer, _, is := parentFromMarker(env, outerMarker)
	if !is {
		return &Signals{}
	}
	return &Signals{Outer: outer, Parent: os.Getppid}
}

// Count counts sig. The first request lets the operation under way end. Hard
// means end at once: it was asked again, or the outer is gone, and nothing is
// left then but this program to keep an agent from outliving it.
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
	asked := s.requests()
	orphaned := s.Outer != 0 && s.Parent() != s.Outer
	return before == 0 && asked == 1, orphaned || asked > before && asked > 1
}

func (s *Signals) requests() int { return max(s.direct, s.forwarded) }
