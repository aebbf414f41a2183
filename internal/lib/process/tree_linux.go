package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a program and all its descendants, in any session or group.
//
// It is ended by steps: terminate asks all of it to end, kill kills all of it, and killWithoutScan, where those take
// too long, at least the program. sweep kills what outlives the program. giveUp is for a tree that nothing ends.
type tree struct {
	pid   int
	ended map[int]bool // descendants that had to be ended, by pid
	uid   int          // of Command.UID
}

func (t *tree) terminate() {
	subreaper.Lock()
	defer subreaper.Unlock()
	seen := t.find()
	if seen.err != nil {
		_ = unix.Kill(-t.pid, unix.SIGTERM) // without /proc: at least its group
		return
	}
	k := newSignaller(unix.SIGTERM)
	for _, s := range seen.members {
		k.send(s)
	}
}

// isAlive looks twice: the first look may only have reaped orphans of other trees.
func (t *tree) isAlive() bool {
	subreaper.Lock()
	defer subreaper.Unlock()
	for range 2 {
		if hasNoChildren() || t.find().isEmpty() {
			return false
		}
	}
	return true
}

func (t *tree) recordMembers() {
	subreaper.Lock()
	defer subreaper.Unlock()
	for _, s := range t.find().members {
		t.recordEnded(s)
	}
}

func (t *tree) kill() {
	subreaper.Lock()
	defer subreaper.Unlock()
	if t.killFound().err != nil {
		_ = unix.Kill(-t.pid, unix.SIGKILL)
	}
}

// killWithoutScan reads no process table. Until the program is reaped, its pid is no other's.
func (t *tree) killWithoutScan() {
	_ = unix.Kill(t.pid, unix.SIGKILL)
	if t.uid != 0 {
		killUser(t.uid)
	}
}

func (t *tree) recordEnded(s stat) {
	if s.pid != t.pid {
		t.ended[s.pid] = true
	}
}

func (t *tree) countEnded() int { return len(t.ended) }

// giveUp leaves the processes of a tree that cannot be ended to the trees after it.
func (t *tree) giveUp() {
	subreaper.Lock()
	defer subreaper.Unlock()
	t.removeFromLive()
}

func (t *tree) removeFromLive() {
	if subreaper.live[t.pid] == t {
		delete(subreaper.live, t.pid)
	}
}

type scanResult struct {
	members []stat // living processes
	reaped  int    // orphans that had ended, of any tree
	err     error
}

// isEmpty needs both to be sure. A process that forks and ends, over and over, can hide from the scan behind newer
// pids; but each one that ended became our child, and stays until we reap it.
func (s scanResult) isEmpty() bool {
	return s.err == nil && len(s.members) == 0 && s.reaped == 0
}

func (t *tree) find() scanResult { return t.findEach(func(stat) {}) }

// findEach calls member as soon as it finds one.
func (t *tree) findEach(member func(stat)) scanResult {
	var seen scanResult
	wantAndReap := func(pid int) bool {
		if !mayBeInTree(pid) {
			return false
		}
		if reapOrphan(pid) {
			seen.reaped++
			return false
		}
		return true
	}
	seen.err = readTable(wantAndReap, func(procs *processTable, s stat) {
		if !s.isDead() && t.owns(procs.ancestors(s)) {
			seen.members = append(seen.members, s)
			member(s)
		}
	})
	return seen
}

// Waiting for any child would take the status of programs that others wait for.
func reapOrphan(pid int) bool {
	if subreaper.live[pid] != nil {
		return false
	}
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return err == nil && got == pid
}

func (s scanResult) aliveError() error {
	if s.err != nil {
		return fmt.Errorf("%w, for all that is known: %w", ErrAlive, s.err)
	}
	return fmt.Errorf("%w: %s", ErrAlive, pidList(s.members))
}

func pidList(list []stat) string {
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

// processTable reads missing processes again: parents change while /proc is read.
type processTable struct {
	procs map[int]stat
	err   error // why a process could not be read that may be there
}

// readTable fails if it may have missed a process.
func readTable(want func(pid int) bool, each func(*processTable, stat)) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return fmt.Errorf("read the process table: %w", err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read the process table: %w", err)
	}
	t := &processTable{procs: make(map[int]stat, len(names))}
	for _, name := range slices.Backward(names) { // the youngest may end first
		pid, err := strconv.Atoi(name)
		if err != nil || !want(pid) {
			continue
		}
		if s, ok := t.read(pid); ok {
			each(t, s)
		}
	}
	return t.err
}

func (t *processTable) read(pid int) (stat, bool) {
	s, ok, err := readStat(pid)
	if err != nil {
		t.err = fmt.Errorf("read the process table: %w", err)
	}
	if !ok {
		delete(t.procs, pid)
		return stat{}, false
	}
	t.procs[pid] = s
	return s, true
}

// readStat does not find a process that has ended, or that is hidden from us. An error leaves that open.
func readStat(pid int) (s stat, found bool, err error) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH), errors.Is(err, fs.ErrPermission):
		return stat{}, false, nil
	case err != nil: // such as that no descriptor is left
		return stat{}, false, err
	}
	parsed, ok := parseStat(line)
	return parsed, ok, nil
}

// ancestors ends with our own child; nil if s does not descend from us.
func (t *processTable) ancestors(s stat) []stat {
	self := os.Getpid()
	var path []stat
	for range 10_000 { // an inconsistent table can have a cycle
		if s.pid == self {
			return nil
		}
		if s.parent == self {
			return append(path, s)
		}
		if s.parent <= 1 {
			return nil
		}
		up, ok := t.procs[s.parent]
		if !ok {
			up, ok = t.read(s.parent)
		}
		if ok {
			path = append(path, s)
			s = up
			continue
		}
		s, ok = t.read(s.pid)
		if !ok { // its parent ended: read its new one
			return nil
		}
	}
	return nil
}
