package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox/connect"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// supervise stands between ralph and the program where no namespace ends all processes. When ralph is gone, it ends
// them. At level notify it also makes their connections: it is the same user as those inside, so that it may read what
// they ask for, and their ancestor, which is what Yama asks of who reads another's memory. It holds no secret and
// cannot be read by them. When it ends they are killed, and before that cannot connect.
func (p *launch) supervise() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the sub-reaper: %w", err)
	}
	p.launcher.Hear(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	below, pid, err := p.startInner()
	if err != nil {
		return err
	}
	defer func() { _ = below.Close() }()
	listener, err := p.awaitFilter(below)
	if err != nil {
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return err
	}
	if listener != nil {
		go p.supervisor(listener).Serve()
	}
	err = p.waitForProgram(pid)
	return errors.Join(err, process.EndDescendants()) // ralph is gone, or none is left
}

// endAfter ends all that is below the supervisor, also what left its session, once ralph is dead.
func (p *launch) endAfter(death <-chan os.Signal) {
	<-death
	_ = process.EndDescendants()
	p.launcher.Exit(1)
}

func (p *launch) supervisor(listener *os.File) *connect.Supervisor {
	folders := []string{sharedMemory}
	for _, dir := range p.Write {
		folders = append(folders, dir.Path)
	}
	return &connect.Supervisor{
		Listener: listener,
		Ports:    p.Ports,
		Folders:  folders,
		Anyone:   p.off(owner),
	}
}

func (p *launch) startInner() (wire, int, error) {
	ours, theirs, err := newWires()
	if err != nil {
		return wire{}, 0, err
	}
	defer func() { _ = theirs.Close() }()
	below := *p.spec
	below.Parent = os.Getpid()
	orders, err := below.memory()
	if err != nil {
		return wire{}, 0, errors.Join(err, ours.Close())
	}
	defer func() { _ = orders.Close() }()
	lent := 3 + p.Files
	fds := append(descriptors(lent), orders.Fd(), theirs.Fd())
	argv := []string{selfExe, Hidden, strconv.Itoa(lent), inner}
	pid, err := syscall.ForkExec(selfExe, argv, &syscall.ProcAttr{ //nolint:gosec // ourselves
		Dir:   "/",
		Env:   p.launcher.Env,
		Files: fds,
		Sys: &syscall.SysProcAttr{
			Pdeathsig: syscall.SIGKILL,
			Setsid:    true, // a signal to its own group must not reach us
		},
	})
	if err != nil {
		return wire{}, 0, errors.Join(fmt.Errorf("start below the supervisor: %w", err), ours.Close())
	}
	return ours, pid, detachStreams(lent)
}

// detachStreams closes the program's output, which would seem open otherwise.
func detachStreams(lent int) error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("let the streams go: %w", err)
	}
	for fd := range lent {
		if err := unix.Dup3(null, fd, unix.O_CLOEXEC); err != nil {
			return fmt.Errorf("let the streams go: %w", err)
		}
	}
	return nil
}

// awaitFilter returns the filter's listener, or why the program could not begin.
func (p *launch) awaitFilter(below wire) (*os.File, error) {
	var listener *os.File
	for {
		what, f, err := below.receive()
		switch {
		case errors.Is(err, io.EOF) && (listener != nil || !p.isSupervised()):
			return listener, nil
		case err != nil:
			return nil, fmt.Errorf("the launcher below ended: %w", err)
		case what.Failed != "":
			return nil, what.err()
		case what.Filter:
			listener = f
		}
	}
}

// runAsInit is the first process of a namespace. It dies with ralph, and the kernel kills all others of the namespace
// with it, also those that left their session and their parents. It starts the program from this thread, which is
// confined. Signals that ask the program to end reach the program too, so this process ignores them.
func (p *launch) runAsInit() error {
	p.launcher.Hear(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	if err := p.denyTracing(); err != nil {
		return err
	}
	path, env, err := p.locate()
	if err != nil {
		return err
	}
	lent := 3 + p.Files
	pid, err := syscall.ForkExec(path, p.Argv, &syscall.ProcAttr{ //nolint:gosec // it is what a launcher is for
		Env:   env,
		Files: descriptors(lent),
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return process.StartError(path, err)
	}
	if err := detachStreams(lent); err != nil {
		return err
	}
	return p.waitForProgram(pid)
}

func descriptors(lent int) []uintptr {
	fds := make([]uintptr, lent, lent+2)
	for fd := range fds {
		fds[fd] = uintptr(fd)
	}
	return fds
}

// waitForProgram waits for the program's end and tells it, then waits for the end of the last process that it left.
// ralph decides how long these may stay: it kills them and us.
func (p *launch) waitForProgram(pid int) error {
	var status unix.WaitStatus
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		if got == pid && err == nil {
			status = ws
			break
		}
		if errors.Is(err, unix.ECHILD) {
			return errors.New("the program was lost")
		}
	}
	ended := int(status)
	left := !reapAll()
	if err := p.wire.send(message{Ended: &ended, Left: left}, -1); err != nil {
		return err
	}
	for left {
		_, err := unix.Wait4(-1, nil, 0, nil)
		left = !errors.Is(err, unix.ECHILD)
	}
	p.launcher.Exit(0)
	return nil
}

// reapAll reaps, and reports whether no process is left.
func reapAll() bool {
	for {
		got, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return true
		case errors.Is(err, unix.EINTR):
		case got <= 0:
			return false
		}
	}
}
