package process

import (
	"bytes"
	"strconv"
)

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, parent, group, session int

	state   byte
	threads int
	born    uint64 // clock ticks after boot
}

// dead is a zombie. A process whose first thread has ended shows as one too,
// while its other threads run.
func (s stat) dead() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads <= 1
}

// parseStat reads one line of /proc/PID/stat. The program's name in it is
// anything that fits in 15 bytes, "a) Z (b" and line ends included; only its last
// bracket is certain.
func parseStat(line []byte) (stat, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return stat{}, false
	}
	f := bytes.Fields(line[shut+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return stat{}, false
	}
	born, err := strconv.ParseUint(string(f[19]), 10, 64)
	pid, ok0 := number(bytes.TrimSpace(line[:open]))
	parent, ok1 := number(f[1])
	group, ok2 := number(f[2])
	session, ok3 := number(f[3])
	threads, ok4 := number(f[17])
	s := stat{pid: pid, parent: parent, group: group, session: session, state: f[0][0], threads: threads, born: born}
	return s, err == nil && pid > 0 && ok0 && ok1 && ok2 && ok3 && ok4
}

func number(b []byte) (int, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int(n), err == nil && n >= 0
}
