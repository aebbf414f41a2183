package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guarded: a guard gets the orphans of an inner program that was killed.
const guarded = true

func startInner(argv []string, attr *os.ProcAttr) (*inner, error) {
	room.Lock()
	defer room.Unlock()
	if err := enterRoom(); err != nil {
		return nil, err
	}
	// We hold the program's whole environment, secrets included, for as long as
	// agents run: nobody may read it from /proc.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("hide from other processes: %w", err)
	}
	attr.Sys.Pdeathsig = Orphaned
	// A group of its own: whoever kills the job of a shell kills the outer's group,
	// and the inner has to outlive that for as long as it takes to end its agents.
	attr.Sys.Setpgid = true
	ended := make(chan syscall.WaitStatus, 1)
	p, err := launch("/proc/self/exe", argv, attr, func(p *os.Process) { ended <- reapUntil(p.Pid) })
	if err != nil {
		return nil, err
	}
	return &inner{p: p, ended: ended}, nil
}

// reapUntil reaps whatever child ends until pid has. The outer may be pid 1 of a
// container, to which strangers' orphans come, and has one child of its own.
func reapUntil(pid int) syscall.WaitStatus {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		if got == pid && err == nil && (ws.Exited() || ws.Signaled()) {
			return ws
		}
		if errors.Is(err, syscall.ECHILD) {
			return syscall.WaitStatus(127 << 8) // cannot be: nobody else waits for it
		}
	}
}

// sweepOuter kills all our descendants. That we have no child is the proof:
// whoever lost its parents is our child.
func sweepOuter() error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for wait := time.Duration(0); ; wait = min(2*wait+time.Millisecond, 50*time.Millisecond) {
		for reaped := 1; reaped > 0; {
			reaped, _ = unix.Wait4(-1, nil, unix.WNOHANG, nil)
		}
		if childless() {
			return nil
		}
		left, err := strikeDescendants()
		if err != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-limit.C:
			return fmt.Errorf("still alive after SIGKILL: %s", pids(left))
		}
	}
}

func strikeDescendants() (found []stat, err error) {
	procs, err := readTable(func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, s := range procs.listed {
		if !s.dead() && procs.ours(s) != nil {
			found = append(found, s)
		}
	}
	strike(found, unix.SIGKILL)
	return found, nil
}
