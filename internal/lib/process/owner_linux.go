package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// EndDescendants kills all descendants of a sub-reaper: orphans become its children, so without children there are
// none.
func EndDescendants() error {
	limit := time.After(killTimeout)
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
		case <-limit:
			return scanResult{members: left}.aliveError()
		}
	}
}

func killDescendants() ([]stat, error) {
	var found []stat
	k := newSignaller(unix.SIGKILL)
	err := readTable(func(int) bool { return true }, func(procs *processTable, s stat) {
		if !s.isDead() && procs.ancestors(s) != nil {
			found = append(found, s)
			k.send(s)
		}
	})
	return found, err
}

// owns reports whether a process belongs to t. path has the process and its ancestors up to our own child. Nothing
// tells whose an orphan is that has left its session: the last tree ends it.
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
		return false // another part of this program started it, such as net/http/cgi
	}
	return len(subreaper.live) == 1
}

func isInOwnSession(s stat) bool {
	own, err := unix.Getsid(0)
	return err == nil && s.session == own
}

// mayBeInTree excludes our own session, and the kernel's threads.
func mayBeInTree(pid int) bool {
	session, err := unix.Getsid(pid)
	if err != nil {
		return true
	}
	return session != 0 && !isInOwnSession(stat{session: session})
}

// Some programs end without waiting for their output to be read; what does not fit is lost.
const pipeSize = 1 << 20

func newPipe() (*os.File, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	raw, err := w.SyscallConn()
	if err != nil {
		return r, w, nil //nolint:nilerr // a pipe of the usual size works, too
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	return r, w, nil
}
