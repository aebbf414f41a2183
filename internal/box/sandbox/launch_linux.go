package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// The roles of a launcher, by its arguments: descriptor, and role where it is not the first.
const (
	inner = "inner" // below the supervisor
	check = "check" // a program inside that tries what it must not do
)

// Launch becomes the program of its orders. It returns only after an error, which it has reported.
func Launch(l Launcher) error {
	if len(l.Args) == 0 {
		return errors.New("internal command: it starts a sandboxed program")
	}
	if l.Args[0] == check {
		return attempt(os.NewFile(0, "attempts"), os.NewFile(1, "outcome"))
	}
	first, err := strconv.Atoi(l.Args[0])
	if err != nil || first < 3 {
		return fmt.Errorf("no descriptor of orders: %q", l.Args[0])
	}
	// Death signal, Landlock's and seccomp's domains belong to the thread that will call exec.
	runtime.LockOSThread()
	orders := os.NewFile(uintptr(first), "orders")
	s, err := readSpec(orders)
	if err != nil {
		return err
	}
	w, err := wireOf(os.NewFile(uintptr(first+1), "wire"))
	if err != nil {
		return err
	}
	unix.CloseOnExec(first)
	p := &launch{spec: s, wire: w, orders: orders, launcher: l, death: unix.SIGKILL}
	err = p.run(len(l.Args) > 1 && l.Args[1] == inner)
	if unsent := w.send(failure(err), -1); unsent != nil {
		return errors.Join(err, unsent)
	}
	return ReportedError{err}
}

type launch struct {
	*spec

	wire   wire
	orders *os.File

	read, write []openPlace
	layers      []mountItem
	launcher    Launcher
	death       unix.Signal // that says that who started us is gone
}

// run takes the steps in order: those that need a capability or would be filtered come first.
func (p *launch) run(below bool) error {
	if p.Level != Namespace && !below {
		p.death = deathOfRalph
		go p.endAfter(p.launcher.Hear(deathOfRalph))
		return p.stepsThen(p.supervise, p.dieWithParent, p.denyTracing, p.dropPrivileges, p.dieWithParent)
	}
	last := p.exec
	if p.mounts() {
		last = p.runAsInit
	}
	return p.stepsThen(last,
		p.dieWithParent,
		p.yieldMemory,
		p.openNetwork,
		p.openMounts,
		p.enterNewRoot,
		p.dropPrivileges,
		p.dieWithParent,
		p.limitProcesses,
		p.changeFolder,
		p.restrictFiles,
		p.restrictCalls,
	)
}

func (p *launch) stepsThen(last func() error, steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return last()
}

// deathOfRalph is for the supervisor, which has to end what left its session.
const deathOfRalph = unix.SIGUSR2

// dieWithParent asks for a death signal. A change of user loses it, so it is asked for again.
func (p *launch) dieWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(p.death), 0, 0, 0); err != nil {
		return fmt.Errorf("ask to end with who started us: %w", err)
	}
	if p.orphaned() {
		return errors.New("who started us is gone")
	}
	return nil
}

// orphaned: the first process of a namespace cannot see its parent, but sees the wire close.
func (p *launch) orphaned() bool {
	if p.mounts() {
		return p.wire.isClosed()
	}
	return unix.Getppid() != p.Parent
}

// yieldMemory has the kernel end programs inside before ralph where memory runs out: how much they take has no limit.
// They cannot undo it, as they write to no file of /proc. Not every machine lets us say so.
func (p *launch) yieldMemory() error {
	const file, more, most = procs + "/self/oom_score_adj", 500, 1000
	text, _ := os.ReadFile(file)
	if own, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		_ = os.WriteFile(file, []byte(strconv.Itoa(min(own+more, most))), 0)
	}
	return nil
}

// limitProcesses limits processes and core files, except on a laptop, where other programs of the user count.
func (p *launch) limitProcesses() error {
	syscall.Umask(0o022)
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("leave no core files: %w", err)
	}
	if p.UID == 0 {
		return nil
	}
	const most = 8192
	now := unix.Rlimit{}
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err == nil && now.Max < most {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound the number of processes: %w", err)
	}
	return nil
}

func (p *launch) changeFolder() error {
	if p.Dir == "" {
		p.Dir = "/"
	}
	if err := os.Chdir(p.Dir); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	return nil
}

func (p *launch) exec() error {
	path, env, err := p.locate()
	if err != nil {
		return err
	}
	return process.StartError(path, syscall.Exec(path, p.Argv, env)) //nolint:gosec // it is what a launcher is for
}

// locate looks the program's name up inside, as whom it will be.
func (p *launch) locate() (path string, env []string, err error) {
	// A descriptor that ralph itself was given open goes to all its children.
	if err := process.CloseOnExecFrom(3 + p.Files); err != nil {
		return "", nil, err
	}
	return process.Locate(process.Command{Argv: p.Argv, Dir: p.Dir, Env: slices.Concat(p.Env, p.launcher.Env)})
}
