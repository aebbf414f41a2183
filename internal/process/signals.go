package process

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// outerMarker names, in the inner program's environment, the pid of its outer, and
// guardMarker in the guard's, with the name that the program was started by.
const (
	outerMarker = "RALPH_OUTER"
	guardMarker = "RALPH_GUARD"
)

// Forwarded is the signal by which the outer passes on each one that it gets.
// The inner has to be notified of it beside SIGINT and SIGTERM.
const Forwarded = syscall.SIGUSR1

// Orphaned is the signal that the kernel sends to the inner when the outer
// dies. It is one that nobody else sends: SIGTERM may come while the outer is
// still our parent by name, and would then be taken for a polite request. The
// inner has to be notified of it too.
const Orphaned = syscall.SIGUSR2

// Inner tells whether this program runs under Outer. A marker that went astray
// into a grandchild's environment does not count: it names another parent.
func Inner(env func(string) string) bool {
	_, _, is := parentIn(env, outerMarker)
	return is
}

// Guard tells whether this program is the guard: it calls Outer and does nothing
// else.
func Guard(env func(string) string) bool {
	_, _, is := parentIn(env, guardMarker)
	return is
}

// voice is the descriptor by which the inner says that it listens.
const voice = 3

// Listening tells the outer that this program was notified of Forwarded: what
// came before has waited there. It comes right after that.
func Listening(env func(string) string) {
	var stat syscall.Stat_t
	if !Inner(env) && !Guard(env) || syscall.Fstat(voice, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return
	}
	_ = os.NewFile(voice, "voice").Close()
}

// parentIn is the pid that a marker names, and what follows the pid; is tells whether
// the pid is our parent's.
func parentIn(env func(string) string, marker string) (pid int, rest string, is bool) {
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

// CountSignals is the Signals of this program.
func CountSignals(env func(string) string) *Signals {
	outer, _, is := parentIn(env, outerMarker)
	if !is {
		return &Signals{}
	}
	return &Signals{Outer: outer, Parent: os.Getppid}
}

// Seen counts sig. The first request lets the operation under way end. Hard
// means end at once: it was asked again, or the outer is gone, and nothing is
// left then but this program to keep an agent from outliving it.
func (s *Signals) Seen(sig os.Signal) (first, hard bool) {
	before := s.asked()
	switch {
	case sig == Orphaned:
		return before == 0, true
	case sig != Forwarded:
		s.direct++
	case s.Outer != 0:
		s.forwarded++
	}
	asked := s.asked()
	orphaned := s.Outer != 0 && s.Parent() != s.Outer
	return before == 0 && asked == 1, orphaned || asked > before && asked > 1
}

func (s *Signals) asked() int { return max(s.direct, s.forwarded) }
