package process

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// owns decides whose the process at the head of path is; path ends in our own
// child. Parents and sessions cannot be forged, so they come first.
func (t *tree) owns(path []stat) bool {
	if len(path) == 0 {
		return false
	}
	for _, s := range path {
		if owner := room.live[s.session]; owner != nil {
			return owner == t
		}
	}
	top := path[len(path)-1]
	if inOurSession(top) {
		return false // started by somebody else in this program, as by net/http/cgi
	}
	return t.claims(top)
}

// claims decides whose an orphan is that has left its session. Its marker says
// so; where that cannot be read, it may belong to any tree that was there when
// it was born, and the last of these takes it along. What t has struck stays
// its own: the dying lose their environment before they are gone.
func (t *tree) claims(orphan stat) bool {
	if born, struck := t.struck[orphan.pid]; struck && born == orphan.born {
		return true
	}
	number, marked := markerOf(orphan.pid)
	for _, other := range room.live {
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

func inOurSession(s stat) bool {
	own, err := unix.Getsid(0)
	return err == nil && s.session == own
}

// otherSessions passes over what cannot be of any tree, for a fraction of what
// reading about it costs: our own session, and the kernel's threads, which have
// none.
func otherSessions(pid int) bool {
	session, err := unix.Getsid(pid)
	return err != nil || session != 0 && !inOurSession(stat{session: session})
}

// markerOf reads the environment that a process was started with. Another user's
// is closed to us, unless we may trace it.
func markerOf(pid int) (uint64, bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return 0, false
	}
	defer func() { _ = f.Close() }()
	env, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return 0, false
	}
	prefix := []byte(marker + "=" + room.id + ".")
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if n, ok := bytes.CutPrefix(kv, prefix); ok {
			number, err := strconv.ParseUint(string(n), 10, 64)
			return number, err == nil
		}
	}
	return 0, false
}

// reapStrays collects orphans that ended as our children, each by its pid:
// waiting for any child would take their statuses from those who started them.
func reapStrays(procs *table) (reaped int) {
	for _, s := range procs.listed {
		if s.parent == os.Getpid() && s.dead() && !inOurSession(s) && room.live[s.pid] == nil {
			_, _ = unix.Wait4(s.pid, nil, unix.WNOHANG, nil)
			reaped++
		}
	}
	return reaped
}
