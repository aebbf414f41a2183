package tamper

import (
	"cmp"
	"strings"
)

// dead is why what is read does not count.
func (s *scribe) dead() string {
	for _, why := range s.deads {
		if why != "" {
			return why
		}
	}
	return ""
}

func (s *scribe) deadly(why string, do func()) {
	s.deads = append(s.deads, why)
	n := len(s.deads)
	do()
	s.deads = s.deads[:n-1]
}

// branch reads an if: what stands under one that never holds does not count,
// and one that only leaves is noted.
func (s *scribe) branch(i, to, depth int) int {
	shut := s.close(i + 1)
	if shut < 0 || shut >= to {
		return i + 1
	}
	condition := s.words[i+2 : shut]
	why := ""
	if never(condition) {
		why = "it stands under if " + short(spoken(condition), 40)
	} else if elsewhere(condition) {
		why = "it is checked only if " + short(spoken(condition), 40)
	}
	end := s.close(shut + 1)
	if !s.w(shut+1).is("{") || end < 0 || end >= to {
		if s.w(shut + 1).is("return") {
			s.at.exits = append(s.at.exits, mark{s.words[i].line, spoken(condition)})
			return shut + 2
		}
		return shut + 1
	}
	plain := len(s.at.checks)
	s.deadly(why, func() { s.read(shut+2, end, depth+1) })
	if s.w(end-1).is("return") || s.w(end-1).is(";") && s.w(end-2).is("return") {
		if plain == len(s.at.checks) {
			s.at.exits = append(s.at.exits, mark{s.words[i].line, spoken(condition)})
		}
	}
	return end + 1
}

// close is the bracket that closes the one at i.
func (s *scribe) close(i int) int {
	if i < 0 || i >= len(s.words) {
		return -1
	}
	return s.match[i]
}

// try reads a try whose catch may forget what failed.
func (s *scribe) try(i, to, depth int) int {
	end := s.close(i + 1)
	if end < 0 || end >= to {
		return i + 1
	}
	why := ""
	j := end + 1
	if s.w(j).is("catch") {
		j++
		if s.w(j).is("(") && s.match[j] > 0 {
			j = s.match[j] + 1
		}
		if shut := s.close(j); shut > 0 && !fails(s.words[j:shut]) {
			why = "its failure is caught"
		}
	}
	s.deadly(why, func() { s.read(i+2, end, depth+1) })
	return end + 1
}

func fails(words []word) bool {
	for _, w := range words {
		if w.kind == name && (w.is("throw", "expect", "fail", "reject", "done") || strings.HasPrefix(w.text, "assert")) {
			return true
		}
	}
	return false
}

// leave ends what counts at a bare return.
func (s *scribe) leave(i, to int) {
	next := s.w(i + 1)
	bare := next.is(";") || next.line != s.words[i].line && !next.is("}")
	if !bare || i+2 >= to || next.is(";") && s.w(i+2).is("}") {
		return
	}
	if len(s.deads) == 0 {
		s.deads = append(s.deads, "")
	}
	s.deads[len(s.deads)-1] = "a return stands before it"
}

// inTest reads an expression of a test, and gives where to go on.
func (s *scribe) inTest(i, to, depth int) int {
	c := s.chain(i)
	if c.end > to {
		return i + 1
	}
	if next := s.calledBack(i, c, depth); next > i {
		return next
	}
	made, is := check{}, false
	switch {
	case c.names[0] == "expect" && (c.calls[0] > 0 || len(c.names) > 1 && c.names[1] != "extend"):
		made = s.expectation(i, c)
		is = true
	case called(c):
		made, is = s.assertion(c)
	}
	whole := s.words[i:c.end]
	if !is {
		s.other(c, whole)
		return i + 1
	}
	made.line, made.end, made.words, made.dead = whole[0].line, whole[len(whole)-1].line, whole, cmp.Or(made.dead, s.dead())
	if made.what != "" {
		s.at.checks = append(s.at.checks, made)
	}
	return s.inward(i, c)
}

// other is an expression that checks nothing by itself.
func (s *scribe) other(c chain, whole []word) {
	last := c.names[len(c.names)-1]
	switch {
	case !called(c):
	case len(c.names) == 1:
		s.at.calls = append(s.at.calls, call{c.names[0], whole[0].line, whole})
	case len(c.names) == 2 && (last == "skip" || last == "todo") && len(c.names[0]) <= 7:
		s.at.skips = append(s.at.skips, mark{whole[0].line, spoken(whole)})
	case last == "forEach" || last == "map":
		s.iterated(c)
	}
}

// inward goes on behind the first bracket of a check that holds functions:
// there may be more in them. Others are done with.
func (s *scribe) inward(i int, c chain) int {
	for j := i; j < c.end; j++ {
		if s.words[j].is("=>", "function") {
			return i + 1
		}
	}
	return c.end
}

// functions finds the helpers: functions outside of tests that check.
func (s *scribe) functions() {
	s.around = nil
	for i := 0; i < len(s.words); i++ {
		called, open, end := s.body(i)
		if called == "" || s.claimed[i] {
			continue
		}
		t := &test{name: called, line: s.words[i].line, end: s.words[end].line, words: s.words[open : end+1]}
		s.at, s.deads = t, nil
		s.read(open+1, end, 1)
		s.at = nil
		if len(t.checks) > 0 {
			s.helpers = append(s.helpers, t)
			for j := i; j <= end; j++ {
				s.claimed[j] = true
			}
			i = end
			continue
		}
		s.idle = append(s.idle, t)
	}
}

// body finds the function that begins at a word: its name and the brackets of
// its body.
func (s *scribe) body(i int) (called string, open, end int) {
	w := s.words[i]
	switch {
	case w.is("function") && s.w(i+1).kind == name:
		called = s.w(i + 1).text
		open = i + 2
	case w.is("const", "let", "var") && s.w(i+1).kind == name:
		called = s.w(i + 1).text
		open = s.arrow(i + 2)
	default:
		return "", 0, 0
	}
	for j := open; j > 0 && j < len(s.words) && j < open+60; j++ {
		if s.words[j].is("{") && s.match[j] > 0 {
			return called, j, s.match[j]
		}
		if s.words[j].is("(") && s.match[j] > 0 {
			j = s.match[j]
		} else if s.words[j].is(";") {
			break
		}
	}
	return "", 0, 0
}

// arrow is where the arrow of "= (…) =>" stands behind i, or -1.
func (s *scribe) arrow(i int) int {
	for j := i; j < len(s.words) && j < i+60; j++ {
		switch {
		case s.words[j].is("=>"), s.words[j].is("function"):
			return j
		case s.words[j].is("(", "[", "{") && s.match[j] > 0:
			j = s.match[j]
		case s.words[j].is(";"):
			return -1
		}
	}
	return -1
}
