package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
)

// Hidden is the hidden command by which this program is its own launcher.
const Hidden = "sandboxed"

// itself is this very program, whatever lies by now where it was started from:
// that may be in a folder that those inside write to.
const itself = "/proc/self/exe"

func (w Wall) run(ctx context.Context, c process.Command, next Next) (process.Result, error) {
	if !w.stands() {
		return process.Result{}, fault.Usage(fmt.Sprintf("no sandbox level %q", w.Level), "let Probe choose one", nil)
	}
	if len(c.Argv) == 0 {
		return process.Result{}, errors.New("run: no program named")
	}
	guards, closed, err := w.guards()
	if err != nil {
		return process.Result{}, errors.Join(err, keeping{guards: guards}.close())
	}
	w.ReadOnly = slices.Concat(w.ReadOnly, closed)
	kept, err := w.keepReadOnly(guards)
	if err != nil {
		return process.Result{}, err
	}
	res, err := w.runInside(ctx, c, next)
	return res, errors.Join(err, kept.putBack(w.Mended))
}

func (w Wall) stands() bool {
	switch w.Level {
	case Namespace, Notify, External:
		return true
	case None, Auto:
	}
	return false
}

func (w Wall) runInside(ctx context.Context, c process.Command, next Next) (process.Result, error) {
	spec, err := w.spec(c)
	if err != nil {
		return process.Result{}, err
	}
	orders, err := spec.memory()
	if err != nil {
		return process.Result{}, err
	}
	defer func() { _ = orders.Close() }()
	ours, theirs, err := wires()
	if err != nil {
		return process.Result{}, err
	}
	h := hostOf(ours)
	res, err := next(ctx, w.launcher(c, h, orders, theirs))
	_ = theirs.Close() // the launcher's own end is gone: h hears what it still said, then the end
	h.wait()
	if h.failed != nil {
		return process.Result{}, fmt.Errorf("run %s in the sandbox: %w", c.Argv[0], h.failed)
	}
	return h.ending(res), err
}

func (w Wall) spec(c process.Command) (*spec, error) {
	writes, err := w.writes()
	return &spec{
		Level: w.Level, Argv: c.Argv, Env: c.Env, Dir: c.Dir,
		UID: w.UID, GID: w.GID, Write: writes, Read: w.reads(), ReadOnly: w.closed(writes),
		Ports: w.Ports, Flat: !w.mounts(), PIDs: w.pids(),
		Files: len(c.Files), Parent: os.Getpid(),
		Off: w.off, ABI: w.abi,
	}, err
}

// launcher is c with the launcher in the place of its program.
func (w Wall) launcher(c process.Command, h *host, orders, theirs *os.File) process.Command {
	first := 3 + len(c.Files)
	c.Argv, c.Env, c.Dir = []string{itself, Hidden, strconv.Itoa(first)}, nil, "/"
	c.Files = slices.Concat(c.Files, []*os.File{orders, theirs})
	c.Sys = w.sys(c.Sys)
	c.Ended = h.left
	return c
}

// sys is where the kernel makes the namespaces: as the process is made, since a
// program of many threads cannot enter them all at once.
func (w Wall) sys(from *syscall.SysProcAttr) *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if from != nil {
		sys = *from
	}
	if w.Level != Namespace {
		return &sys
	}
	if w.has(network) {
		sys.Cloneflags |= unix.CLONE_NEWNET
	}
	if w.has(memory) {
		sys.Cloneflags |= unix.CLONE_NEWIPC
	}
	if w.mounts() {
		sys.Cloneflags |= unix.CLONE_NEWNS
	}
	if w.pids() {
		sys.Cloneflags |= unix.CLONE_NEWPID
	}
	if uid := os.Geteuid(); uid != 0 {
		sys.Cloneflags |= unix.CLONE_NEWUSER
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		// What root may do in its namespace would be lost at the launcher's exec.
		sys.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	return &sys
}
