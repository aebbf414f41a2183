package tally

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much is kept of an output, so that a hostile one costs little.
const (
	mostTests = 50_000 // of each runner, and as many that failed
	longName  = 300    // bytes
)

// sheet is where a reader of one runner's output writes.
type sheet struct {
	runner string
	seen   bool // it is that runner's output, for certain
	// told counts what was said of tests in sum, where a runner does not name
	// those that passed.
	told map[Outcome]int
	cut  bool

	tests  []Test
	times  map[Test]int
	failed int // of these, and of the rest, how many are kept
	other  int
}

// add notes a test, also where one of that name was noted before.
func (s *sheet) add(name string, how Outcome) {
	test := Test{tidy(name), how}
	if test.Name == "" {
		return
	}
	if s.times == nil {
		s.times = map[Test]int{}
	}
	if !s.room(how) {
		return
	}
	s.times[test]++
	if n := s.times[test]; n > 1 {
		test.Name = fmt.Sprintf("%s (%d)", test.Name, n)
	}
	s.tests = append(s.tests, test)
}

// set notes a test that may have been told of before.
func (s *sheet) set(name string, how Outcome) {
	if s.times[Test{tidy(name), how}] == 0 {
		s.add(name, how)
	}
}

// room tells whether another test can be kept. Those that failed have a share
// of their own: nobody can hide one behind many that passed.
func (s *sheet) room(how Outcome) bool {
	kept := &s.other
	if how == Failed || how == Broken {
		kept = &s.failed
	}
	if *kept >= mostTests {
		s.cut = s.cut || kept == &s.failed
		return false
	}
	*kept++
	return true
}

// tell notes a count from a runner's sum.
func (s *sheet) tell(how Outcome, n int) {
	if s.told == nil {
		s.told = map[Outcome]int{}
	}
	s.told[how] += n
}

// only leaves the tests that keep says to.
func (s *sheet) only(keep func(Test) bool) {
	var kept []Test
	for _, test := range s.tests {
		if keep(test) {
			kept = append(kept, test)
		}
	}
	s.tests = kept
}

// leaves takes out what failed only because something within it did: between
// says where a name ends and that of a test within it begins.
func (s *sheet) leaves(between string) {
	within := map[string]bool{}
	for _, test := range s.tests {
		if test.Outcome != Failed {
			continue
		}
		for i := strings.LastIndex(test.Name, between); i > 0; i = strings.LastIndex(test.Name[:i], between) {
			within[test.Name[:i]] = true
		}
	}
	s.only(func(test Test) bool { return test.Outcome != Failed || !within[test.Name] })
}

// tidy is name on one line and not longer than can be kept; what is cut off
// still tells two names apart.
func tidy(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
	if len(name) <= longName {
		return name
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // it never fails
	end := longName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return fmt.Sprintf("%s…%016x", name[:end], sum.Sum64())
}
