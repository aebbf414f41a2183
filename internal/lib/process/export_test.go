package process

// Stat is what ParseStat reads, for tests outside.
type Stat struct {
	PID, Parent, Group, Session int
	Dead                        bool
}

// GraceOf is graceOf.
var GraceOf = graceOf

// ParseStat is parseStat.
func ParseStat(line []byte) (Stat, bool) {
	s, ok := parseStat(line)
	return Stat{s.pid, s.parent, s.group, s.session, s.isDead()}, ok
}
