package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

// Outside is what the outer program lends the inner: all it has.
type Outside struct {
	Argv                  []string
	Env                   []string
	Stdin, Stdout, Stderr *os.File
	Signals               <-chan os.Signal // what the program was asked; notify before Outer
}

// Outer runs this same program again as a child, passes signals on, and returns
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
func Outer(o Outside) (int, error) {
	if len(o.Argv) == 0 {
		return 0, errors.New("run the inner program: no arguments")
	}
	ear, voice, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	defer ear.Close() //nolint:errcheck // only read
	argv, env := o.next()
	in, err := startInner(argv, &os.ProcAttr{
		Env:   env,
		Files: []*os.File{o.Stdin, o.Stdout, o.Stderr, voice},
		Sys:   &syscall.SysProcAttr{},
	})
	_ = voice.Close() // the inner has the other end
	if err != nil {
		return 0, fmt.Errorf("run the inner program: %w", err)
	}
	code := in.follow(o.Signals, silence(ear))
	if err := sweepOuter(); err != nil {
		return code, fmt.Errorf("end what the inner program left: %w", err)
	}
	return code, nil
}

// guardName is the guard's name in the list of processes: a kill by the program's
// name does not reach the guard.
const guardName = "process-guard"

// next is the child's command line and environment: the guard's, or those of the
// inner program where we are the guard or the system has no use for one.
func (o Outside) next() (argv, env []string) {
	env = without(without(o.Env, outerMarker), guardMarker)
	own := strconv.Itoa(os.Getpid())
	_, name, guard := parentIn(func(name string) string { return valueOf(o.Env, name) }, guardMarker)
	switch {
	case guard:
		argv = append([]string{name}, o.Argv[1:]...)
	case guarded:
		return append([]string{guardName}, o.Argv[1:]...), append(env, guardMarker+"="+own+" "+o.Argv[0])
	default:
		argv = o.Argv
	}
	return argv, append(env, outerMarker+"="+own)
}

// inner is the program under way as our child.
type inner struct {
	p     *os.Process
	ended <-chan syscall.WaitStatus
}

// silence is closed once nobody holds the other end of ear any more.
func silence(ear *os.File) <-chan struct{} {
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = io.Copy(io.Discard, ear)
	}()
	return heard
}

// follow passes signals on once the inner listens: while a program of Go is
// coming up, it loses those that it was not notified of yet.
func (in *inner) follow(signals <-chan os.Signal, listens <-chan struct{}) int {
	var last syscall.Signal
	var early []os.Signal
	for {
		select {
		case sig := <-signals:
			last, _ = sig.(syscall.Signal)
			if early = append(early, sig); listens == nil {
				in.pass(early)
				early = nil
			}
		case <-listens:
			in.pass(early)
			listens, early = nil, nil
		case ws := <-in.ended:
			return exitCode(ws, last)
		}
	}
}

// pass passes signals on: a request as Forwarded, our parent's death as it is.
func (in *inner) pass(signals []os.Signal) {
	for _, sig := range signals {
		if sig != Orphaned {
			sig = Forwarded
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
	if code == 128+int(Forwarded) && forwarded != 0 {
		return 128 + int(forwarded)
	}
	return code
}
