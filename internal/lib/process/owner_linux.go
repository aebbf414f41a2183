package process

import (
	"bytes"
	"io"
	"os"
	"strconv"
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

// owns reports whether a process belongs to t. path has the process and its ancestors up to our own child. Parents and
// sessions cannot be forged, so they are checked first.
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
	return t.ownsOrphan(top)
}

// ownsOrphan decides for an orphan that has left its session. Its marker names the tree. If the marker cannot be read,
// the orphan may belong to any tree that is older, and the last of these trees ends it. A process that t has killed
// stays its own: the environment is gone before the process is.
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

// mayBeInTree excludes our own session, and the kernel's threads.
func mayBeInTree(pid int) bool {
	session, err := unix.Getsid(pid)
	if err != nil {
		return true
	}
	return session != 0 && !isInOwnSession(stat{session: session})
}

// treeNumber reads the marker. The environment of another user's process may be unreadable.
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
