package process

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a program and all its descendants, wherever they have gone.
type tree struct {
	pid    int
	number uint64         // in the marker
	born   uint64         // of the program
	struck map[int]uint64 // descendants that had to be ended, with their birth
}

// terminate asks everything in the tree to end.
func (t *tree) terminate() {
	room.Lock()
	defer room.Unlock()
	seen := t.look()
	if seen.err != nil {
		_ = unix.Kill(-t.pid, unix.SIGTERM) // no /proc: at least its group
		return
	}
	strike(seen.members, unix.SIGTERM)
}

// alive looks twice where the first look found nothing but orphans that had
// ended: they may have been anybody's, and are reaped now.
func (t *tree) alive() bool {
	room.Lock()
	defer room.Unlock()
	for range 2 {
		if childless() || t.look().empty() {
			return false
		}
	}
	return true
}

// overstay counts those who are still there as ones that had to be ended.
func (t *tree) overstay() {
	room.Lock()
	defer room.Unlock()
	t.note(t.look())
}

// kill kills the tree once, while its program is not reaped yet.
func (t *tree) kill() {
	room.Lock()
	defer room.Unlock()
	if t.strikeAll().err != nil {
		_ = unix.Kill(-t.pid, unix.SIGKILL)
	}
}

// sweep kills until a look finds nobody, after the program has been reaped.
func (t *tree) sweep() error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for wait := time.Duration(0); ; wait = min(2*wait+time.Millisecond, 10*time.Millisecond) {
		seen := t.sweepOnce()
		if seen.err != nil || seen.empty() {
			return seen.err
		}
		select {
		case <-time.After(wait):
		case <-limit.C:
			t.forget()
			return fmt.Errorf("still alive after SIGKILL: %s", pids(seen.members))
		}
	}
}

// sweepOnce strikes the tree off the living in the same breath as it finds it
// empty: two trees that end together would otherwise each leave an orphan of
// unknown origin to the other.
func (t *tree) sweepOnce() (seen sight) {
	room.Lock()
	defer room.Unlock()
	if !childless() {
		seen = t.strikeAll()
	}
	if seen.err != nil || seen.empty() {
		t.leave()
	}
	return seen
}

func (t *tree) strikeAll() sight {
	seen := t.look()
	t.note(seen)
	strike(seen.members, unix.SIGKILL)
	return seen
}

func (t *tree) note(seen sight) {
	for _, s := range seen.members {
		if s.pid != t.pid {
			t.struck[s.pid] = s.born
		}
	}
}

func (t *tree) killed() int { return len(t.struck) }

// forget gives up on a tree.
func (t *tree) forget() {
	room.Lock()
	defer room.Unlock()
	t.leave()
}

func (t *tree) leave() {
	if room.live[t.pid] == t {
		delete(room.live, t.pid)
	}
}

// sight is what one look at the process table showed of a tree.
type sight struct {
	members []stat // those that live
	strays  int    // orphans that had ended, of whatever tree
	err     error
}

// empty needs both to be sure. A process that forks and ends, over and over, can
// run from the look, always born behind it; but each that ended became our
// child when it lost its parent, and lies there until we reap it.
func (s sight) empty() bool {
	return s.err == nil && len(s.members) == 0 && s.strays == 0
}

func (t *tree) look() sight {
	procs, err := readTable(otherSessions)
	if err != nil {
		return sight{err: err}
	}
	seen := sight{strays: reapStrays(procs)}
	for _, s := range procs.listed {
		if !s.dead() && t.owns(procs.ours(s)) {
			seen.members = append(seen.members, s)
		}
	}
	return seen
}

func pids(list []stat) string {
	if len(list) == 0 {
		return "some that fork faster than they can be found"
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, strconv.Itoa(s.pid))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}
