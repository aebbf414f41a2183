package process

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

func (t *tree) sweep() error {
	limit := time.After(4 * killTimeout) // on a busy machine each scan takes long
	wait := time.Duration(0)
	for pass := 0; ; pass++ {
		seen := t.sweepOnce(pass > 0)
		if seen.isEmpty() {
			return nil
		}
		if t.uid != 0 && pass > 2 {
			killUser(t.uid)
		}
		if seen.reaped > 0 {
			wait = 0 // processes that fork and end are faster than a wait
		}
		select {
		case <-time.After(wait):
		case <-limit:
			t.giveUp()
			return seen.aliveError()
		}
		wait = min(2*wait+time.Millisecond, 10*time.Millisecond)
	}
}

// killUser kills in one step, which a process that keeps forking cannot outrun.
func killUser(uid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		id := uintptr(uid)
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id)
		hasRootsRights := !errors.Is(unix.Kill(1, 0), unix.EPERM)
		if errno == 0 && !hasRootsRights { // else it would kill all users' processes
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}()
	<-done
}

// sweepOnce removes the tree from live in the same step in which it finds it empty. Otherwise two trees that end
// together could each leave an orphan to the other.
func (t *tree) sweepOnce(atOnce bool) scanResult {
	subreaper.Lock()
	defer subreaper.Unlock()
	var seen scanResult
	switch {
	case hasNoChildren():
	case atOnce:
		seen = t.killEach()
	default:
		seen = t.killFound()
	}
	if seen.isEmpty() {
		t.removeFromLive()
	}
	return seen
}

// killEach kills each member as soon as it is found, also those that live for less time than a scan.
func (t *tree) killEach() scanResult {
	k := newSignaller(unix.SIGKILL)
	return t.findEach(func(s stat) {
		t.recordEnded(s)
		k.send(s)
	})
}

// killFound kills all members that one scan found, each group in one step. The program's own group comes last: a
// supervisor in it ends the others if we are killed meanwhile.
func (t *tree) killFound() scanResult {
	k := newSignaller(unix.SIGKILL)
	seen := t.find()
	for _, s := range seen.members {
		t.recordEnded(s)
	}
	for _, last := range []bool{false, true} {
		for _, s := range seen.members {
			if (s.group == t.pid) == last {
				k.send(s)
			}
		}
	}
	return seen
}

// signaller prefers groups: a group is signalled in one step, which a forking process cannot outrun.
type signaller struct {
	sig      unix.Signal
	ownGroup int
	groups   map[int]bool // groups that were signalled
}

func newSignaller(sig unix.Signal) signaller { return signaller{sig, unix.Getpgrp(), map[int]bool{}} }

func (k signaller) send(s stat) {
	switch {
	case s.group == k.ownGroup || s.group <= 1:
		_ = unix.Kill(s.pid, k.sig)
	case !k.groups[s.group]:
		k.groups[s.group] = true
		_ = unix.Kill(-s.group, k.sig)
	}
}
