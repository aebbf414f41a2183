package process

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sweep kills until a look finds no process, after the program has been reaped.
func (t *tree) sweep() error {
	limit := time.NewTimer(4 * patience) // on a machine that is busy each look takes long
	defer limit.Stop()
	for pass, wait := 0, time.Duration(0); ; pass, wait = pass+1, min(2*wait+time.Millisecond, 10*time.Millisecond) {
		seen := t.sweepOnce(pass > 0)
		if seen.err != nil || seen.empty() {
			return seen.err
		}
		if t.uid != 0 && pass > 2 {
			killUser(t.uid)
		}
		if seen.strays > 0 {
			wait = 0 // who forks and ends is ahead of us already
		}
		select {
		case <-time.After(wait):
		case <-limit.C:
			t.forget()
			return seen.alive()
		}
	}
}

// sweepLeft is an error while something of an earlier Run is alive. The caller
// holds the lock.
func sweepLeft() error {
	for len(subreaper.left) > 0 {
		if seen := subreaper.left[0].strikeAll(true); seen.err != nil || !seen.empty() {
			return fmt.Errorf("an earlier program: %w", errors.Join(seen.err, seen.alive()))
		}
		subreaper.left = subreaper.left[1:]
	}
	return nil
}

// killUser kills all processes of a user in one step, which one that keeps forking
// cannot outrun. The thread that becomes the user is of no further use and ends.
func killUser(uid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		id := uintptr(uid)
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id)
		if errno == 0 && errors.Is(unix.Kill(1, 0), unix.EPERM) { // with root's rights it would be everybody
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}()
	<-done
}

// sweepOnce strikes the tree off the living in the same breath as it finds it
// empty: two trees that end together would otherwise each leave an orphan of
// unknown origin to the other.
func (t *tree) sweepOnce(atOnce bool) (seen sight) {
	subreaper.Lock()
	defer subreaper.Unlock()
	if !childless() {
		seen = t.strikeAll(atOnce)
	}
	if seen.err != nil || seen.empty() {
		t.leave()
	}
	return seen
}

// strikeAll kills all members that one look finds: each group in one step after the
// look, or, at once, each process as soon as it is found. What lives for less time
// than a look takes is hit only then.
func (t *tree) strikeAll(atOnce bool) sight {
	k := newStrike(unix.SIGKILL)
	hit := func(s stat) {
		t.note(s)
		k.hit(s)
	}
	if atOnce {
		return t.lookAt(hit)
	}
	seen := t.look()
	for _, s := range seen.members {
		t.note(s)
	}
	for _, s := range seen.members {
		k.hit(s)
	}
	return seen
}

// strike signals processes, each by its group where it has one of its own: a group
// is signalled in one step, which a process that keeps forking cannot outrun.
type strike struct {
	sig    unix.Signal
	own    int
	groups map[int]bool // that were signalled
}

func newStrike(sig unix.Signal) strike { return strike{sig, unix.Getpgrp(), map[int]bool{}} }

func (k strike) hit(s stat) {
	switch {
	case s.group == k.own || s.group <= 1:
		_ = unix.Kill(s.pid, k.sig)
	case !k.groups[s.group]:
		k.groups[s.group] = true
		_ = unix.Kill(-s.group, k.sig)
	}
}
