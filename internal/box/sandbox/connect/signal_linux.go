package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// signal answers a call that sends a signal to another, or names by F_SETOWN who gets one later. It may go on to those
// inside: they descend from this process, which gets none. Stopped, it would end no program once ralph is dead. All
// that the call says is in registers, which cannot change.
func signal(q notice) unix.Errno {
	to := int(int32(q.Args[0])) //nolint:gosec // the kernel reads 32 bits
	if int(q.Number) == unix.SYS_FCNTL {
		to = int(int32(q.Args[2])) //nolint:gosec // as above
	}
	switch {
	case to == 0: // its own group: groups have one session, which began below this process
		return 0
	case to == -1: // everybody
		return unix.EPERM
	case to < 0:
		to = memberOf(-to)
	}
	if to == os.Getpid() {
		return unix.EPERM
	}
	return within(to)
}

// within reports whether a process, by the number of any of its threads, descends from this one.
func within(pid int) unix.Errno {
	const tries = 3 // a parent that has just ended is no more than an orphan's
	errno := unix.ESRCH
	for range tries {
		for at := pid; ; {
			if at == os.Getpid() {
				return 0
			}
			parent, _, err := processOf(at)
			if err != nil {
				break
			}
			errno = unix.EPERM
			if parent == 0 {
				return errno
			}
			at = parent
		}
	}
	return errno
}

// memberOf returns a process of a group: its leader, or another if that is gone; 0: there is none.
func memberOf(group int) int {
	if _, of, err := processOf(group); err == nil && of == group {
		return group
	}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if _, of, err := processOf(pid); err == nil && of == group {
			return pid
		}
	}
	return 0
}

// processOf returns the parent and the group of a process.
func processOf(pid int) (parent, group int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(string(text[strings.LastIndexByte(string(text), ')')+3:]), &parent, &group)
	return parent, group, err
}
