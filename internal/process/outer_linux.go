package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hasGuard: a guard gets the orphans of an inner program that was killed.
const hasGuard = true

func startInner(argv []string, attr *os.ProcAttr) (*innerProcess, error) {
	subreaper.Lock()
	defer subreaper.Unlock()
	if err := becomeSubreaper(); err != nil {
		return nil, err
	}
	// We hold the program's whole environment, secrets included, for as long as
	// agents run: no other process may read it from /proc.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("hide from other processes: %w", err)
	}
	attr.Sys.Pdeathsig = OrphanedSignal
	// A group of its own: a shell that kills its job kills the outer's group,
	// and the inner has to live long enough to end its agents.
	attr.Sys.Setpgid = true
	ended := make(chan syscall.WaitStatus, 1)
	p, err := launch("/proc/self/exe", argv, attr, func(p *os.Process) { ended <- reapUntil(p.Pid) })
	if err != nil {
		return nil, err
	}
	return &innerProcess{p: p, ended: ended}, nil
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
			return syscall.WaitStatus(127 << 8) // impossible: no other process waits for it
		}
	}
}

// sweepDescendants kills all our descendants. Orphans become our children, so having
// no child proves that none is left.
func sweepDescendants() error {
	limit := time.NewTimer(killTimeout)
	defer limit.Stop()
	for wait := time.Duration(0); ; wait = min(2*wait+time.Millisecond, 50*time.Millisecond) {
		for reaped := 1; reaped > 0; {
			reaped, _ = unix.Wait4(-1, nil, unix.WNOHANG, nil)
		}
		if hasNoChildren() {
			return nil
		}
		left, err := killDescendants()
		if err != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-limit.C:
			return scan{members: left}.aliveError()
		}
	}
}

func killDescendants() (found []stat, err error) {
	k := newSignaller(unix.SIGKILL)
	err = readTable(func(int) bool { return true }, func(procs *processTable, s stat) {
		if !s.isDead() && procs.ancestors(s) != nil {
			found = append(found, s)
			k.send(s)
		}
	})
	return found, err
}

// owns decides whose the process at the head of path is; path ends in our own
// child. Parents and sessions cannot be forged, so they come first.
func (t *tree) owns(path []stat) bool {
	if len(path) == 0 {
		return false
	}
	for _, s := range path {
		if owner := subreaper.live[s.session]; owner != nil {
			return owner == t
		}
	}
	top := path[len(path)-1]
	if isInOwnSession(top) {
		return false // started by somebody else in this program, as by net/http/cgi
	}
	return t.ownsOrphan(top)
}

// ownsOrphan decides whose an orphan is that has left its session. Its marker says
// so; where that cannot be read, it may belong to any tree that was there when
// it was born, and the last of these takes it along. What t has struck stays
// its own: the dying lose their environment before they are gone.
func (t *tree) ownsOrphan(orphan stat) bool {
	if born, struck := t.ended[orphan.pid]; struck && born == orphan.born {
		return true
	}
	number, marked := treeNumber(orphan.pid)
	for _, other := range subreaper.live {
		switch {
		case other == t:
		case marked && other.number == number:
			return false
		case !marked && other.born <= orphan.born:
			return false
		}
	}
	return true
}

func isInOwnSession(s stat) bool {
	own, err := unix.Getsid(0)
	return err == nil && s.session == own
}

// mayBeInTree passes over what cannot be of any tree, for a fraction of what
// reading about it costs: our own session, and the kernel's threads, which have
// none.
func mayBeInTree(pid int) bool {
	session, err := unix.Getsid(pid)
	return err != nil || session != 0 && !isInOwnSession(stat{session: session})
}

// treeNumber reads the environment that a process was started with. Another user's
// is closed to us, unless we may trace it.
func treeNumber(pid int) (uint64, bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }()
	env, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return 0, false
	}
	prefix := []byte(marker + "=" + subreaper.id + ".")
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if n, ok := bytes.CutPrefix(kv, prefix); ok {
			number, err := strconv.ParseUint(string(n), 10, 64)
			return number, err == nil
		}
	}
	return 0, false
}

// pipeSize is how much a program can say that has not been read yet. Some end
// without waiting until they were heard out: what does not fit is lost.
const pipeSize = 1 << 20

// enlargePipe makes room in a pipe, as far as the machine allows it.
func enlargePipe(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a pipe of the usual size does, too
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
