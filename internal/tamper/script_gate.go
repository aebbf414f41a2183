package tamper

import (
	"slices"
	"strings"
)

// gate reads what stands outside of tests under a condition: a test there that
// asks about the machine runs only where the answer is right.
func (s *scribe) gate(i, to, depth int) int {
	shut := s.close(i + 1)
	if shut < 0 || shut+1 >= to {
		return i + 1
	}
	condition := s.words[i+2 : shut]
	if !never(condition) && !elsewhere(condition) {
		return shut + 1
	}
	end := s.close(shut + 1)
	if !s.w(shut+1).is("{") || end < 0 {
		end = 0
	}
	before := s.skips
	s.skips = append(append([]mark{}, before...), mark{s.words[i].line, "only if " + spoken(condition)})
	next := end + 1
	if end > 0 {
		s.read(shut+2, min(end, to), depth+1)
	} else {
		next = s.step(shut+1, to, depth+1)
	}
	s.skips = before
	return next
}

// guarded is what a test stands behind in short, as process.env.X && test(…).
func (s *scribe) guarded(i int) []mark {
	if !s.w(i - 1).is("&&") {
		return nil
	}
	from := i - 1
	for from > 0 && i-from < 20 && s.w(from-1).line == s.words[i].line && !s.w(from-1).is(";", "{", "}") {
		from--
	}
	if condition := s.words[from : i-1]; elsewhere(condition) || never(condition) {
		return []mark{{s.words[i].line, "only if " + spoken(condition)}}
	}
	return nil
}

// options are what a test is given beside its name and its body: { skip: true }.
func (s *scribe) options(words []word) (stops, only bool) {
	for _, arg := range list(words) {
		if len(arg) < 2 || !arg[0].is("{") || brackets(arg)[0] != len(arg)-1 {
			continue
		}
		for _, member := range list(arg[1 : len(arg)-1]) {
			switch {
			case member[0].kind == sign || off(member):
			case optional[member[0].text]:
				stops = true
			case member[0].text == "only":
				only = true
			}
		}
	}
	return stops, only
}

// off tells whether a member of an object is no option that is on.
func off(member []word) bool {
	if len(member) == 1 {
		return false
	}
	return len(member) < 3 || !member[1].is(":") || len(member) == 3 && member[2].is("false", "undefined", "null")
}

var optional = set("skip todo ignore fails")

// rowless tells whether a table that tests are made from has no row.
func (s *scribe) rowless(c chain, i int) bool {
	for j := i; j < c.end; j++ {
		if !s.words[j].is("each", "for") || !s.w(j-1).is(".") || !s.w(j+1).is("(") {
			continue
		}
		open := j + 2
		if at, known := s.lists[s.w(open).text]; known && s.w(open).kind == name && s.w(open+1).is(")") {
			open = at
		}
		return s.w(open).is("[") && s.w(open+1).is("]")
	}
	return false
}

// unawaited says why a promise of a test is not waited for. A chain that stands
// alone gives it to nobody.
func (s *scribe) unawaited(i int) string {
	before := s.w(i - 1)
	alone := before.is(";", "{", "}") || before.line != s.words[i].line && (before.kind != sign && !before.is("await", "return", "yield", "void") || before.is(")", "]"))
	if !alone || s.waits() || s.w(i).is("cy", "browser") {
		return ""
	}
	return "nobody waits for it"
}

// timers call back when the test may be over.
var timers = set("setTimeout setInterval setImmediate queueMicrotask nextTick requestAnimationFrame")

// calledBack reads what a timer or a promise calls when the test may be over,
// and gives where to go on; the place itself where it is none of these.
func (s *scribe) calledBack(i int, c chain, depth int) int {
	last := c.names[len(c.names)-1]
	open := c.calls[len(c.calls)-1]
	late := timers[last] && !s.promised(i) || last == "then" && c.names[0] != "expect" && s.unawaited(i) != ""
	if !late || open < 0 || s.waits() || !expects(s.words[i:min(c.end, i+mostLate)]) {
		return i
	}
	s.deadly("nobody waits for it", func() { s.read(open+1, c.end-1, depth+1) })
	return c.end
}

// mostLate are the words of a callback that are looked at.
const mostLate = 2000

func expects(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.is("expect") })
}

// promised tells whether a timer settles a promise.
func (s *scribe) promised(i int) bool {
	for j := i - 1; j > 0 && j > i-12; j-- {
		if s.words[j].is("Promise") {
			return true
		}
	}
	return false
}

// waits tells whether the test that is read has a way to wait for a callback,
// or a clock of its own.
func (s *scribe) waits() bool {
	if s.asked != s.at {
		s.asked, s.waited = s.at, slices.ContainsFunc(s.at.words, func(w word) bool {
			return w.kind == name && (waiting[w.text] || strings.HasPrefix(w.text, "advanceTimers") || strings.HasSuffix(w.text, "Timers"))
		})
	}
	return s.waited
}

var waiting = set("done waitFor waitUntil flushPromises plan assertions hasAssertions tick")
