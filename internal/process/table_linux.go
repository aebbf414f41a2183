package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// table is a look at /proc. It is not taken in one instant: processes come, go
// and change parents while it is read, so what is missing is read again.
type table struct {
	procs  map[int]stat
	listed []stat
}

// readTable lists the processes that want picks.
func readTable(want func(pid int) bool) (*table, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	t := &table{procs: make(map[int]stat, len(names))}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !want(pid) {
			continue
		}
		if s, ok := t.read(pid); ok {
			t.listed = append(t.listed, s)
		}
	}
	return t, nil
}

func (t *table) read(pid int) (stat, bool) {
	s, ok := readStat(pid)
	if !ok {
		delete(t.procs, pid)
		return stat{}, false
	}
	t.procs[pid] = s
	return s, true
}

// readStat spares the calls of os.ReadFile that this file does not need: a
// table is hundreds of these.
func readStat(pid int) (stat, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, false
	}
	defer func() { _ = unix.Close(fd) }()
	var buf [1024]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return stat{}, false
	}
	return parseStat(buf[:n])
}

// ours returns s and its ancestors up to our own child, which is the last; nil
// when s does not descend from us.
func (t *table) ours(s stat) []stat {
	self := os.Getpid()
	var path []stat
	for range 10_000 { // a look in pieces could show a circle
		if s.pid == self {
			return nil
		}
		if s.parent == self {
			return append(path, s)
		}
		if s.parent <= 1 {
			return nil
		}
		up, ok := t.parentOf(s)
		if ok {
			path, s = append(path, s), up
			continue
		}
		if s, ok = t.read(s.pid); !ok { // its parent went: who has it now?
			return nil
		}
	}
	return nil
}

func (t *table) parentOf(s stat) (stat, bool) {
	if up, ok := t.procs[s.parent]; ok {
		return up, true
	}
	return t.read(s.parent)
}

// strike signals all of list, each by its group where it has one of its own: a
// group is signalled in one stroke, which a process that keeps forking cannot
// outrun.
func strike(list []stat, sig unix.Signal) {
	own, struck := unix.Getpgrp(), map[int]bool{}
	for _, s := range list {
		switch {
		case s.group == own || s.group <= 1:
			_ = unix.Kill(s.pid, sig)
		case !struck[s.group]:
			struck[s.group] = true
			_ = unix.Kill(-s.group, sig)
		}
	}
}
