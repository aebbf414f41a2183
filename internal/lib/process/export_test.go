package process

import "os"

// Stat is what ParseStat reads, for tests outside.
type Stat struct {
	PID, Parent, Group, Session int
	Dead                        bool
}

// Held is held, of an output that comes by that pipe.
func Held(r *os.File) bool { return (&output{r: r}).hasWriters() }

// GraceOf is graceOf.
var GraceOf = graceOf

// ParseStat is parseStat.
func ParseStat(line []byte) (Stat, bool) {
	s, ok := parseStat(line)
	return Stat{s.pid, s.parent, s.group, s.session, s.isDead()}, ok
}
