// Package tally reads the output of test runners and returns the tests by
// name. The exit code decides whether a check passed. It opens no files, and
// hostile output needs bounded memory.
package tally

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Outcome is how a test ended.
type Outcome string

// How a test can end. Broken is a failure of something other than a test, such as a package that does not build.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
	Broken  Outcome = "broken"
	// Absent is a test that the output does not name: deleted, not run, or passed.
	Absent Outcome = "absent"
)

// Test is one test, by the name that its runner gives it. The second with this name and outcome is "name (2)".
type Test struct {
	Name    string
	Outcome Outcome
}

// Tally is the tests that an output reports.
type Tally struct {
	Runners                 []string // the recognized test runners
	Tests                   []Test   // in the order of the output
	Passed, Failed, Skipped int      // A runner may count more tests than it names.
	Packages                int      // of Passed: packages of Go of which no test is named
	Cut                     bool     // The output was too long: more tests may have failed.

	worst map[string]Outcome // by name
}

// Names returns the sorted names of the tests with these outcomes.
func (t Tally) Names(outcomes ...Outcome) []string {
	var names []string
	for _, test := range t.Tests {
		if slices.Contains(outcomes, test.Outcome) {
			names = append(names, test.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Of returns the worst outcome of the tests with a name.
func (t Tally) Of(name string) Outcome { return cmp.Or(t.worst[name], Absent) }

// index notes the outcomes by name: callers ask for thousands of names, and an output can name as many.
func (t *Tally) index() {
	t.worst = make(map[string]Outcome, len(t.Tests))
	for _, test := range t.Tests {
		if severity(test.Outcome) > severity(t.worst[test.Name]) {
			t.worst[test.Name] = test.Outcome
		}
	}
}

func severity(o Outcome) int {
	return slices.Index([]Outcome{Skipped, Passed, Failed, Broken}, o)
}

// String returns a line for each test: "passed NAME".
func (t Tally) String() string {
	var text strings.Builder
	for _, test := range t.Tests {
		text.WriteString(string(test.Outcome) + " " + test.Name + "\n")
	}
	return text.String()
}

// Parse reads what String wrote.
func Parse(text string) Tally {
	var read Tally
	for line := range strings.Lines(text) {
		outcome, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !found || severity(Outcome(outcome)) < 0 {
			continue
		}
		read.Tests = append(read.Tests, Test{name, Outcome(outcome)})
	}
	read.count()
	read.index()
	return read
}

// count raises each count to the number of named tests.
func (t *Tally) count() {
	t.Passed = max(t.Passed, len(t.Names(Passed)))
	t.Failed = max(t.Failed, len(t.Names(Failed)))
	t.Skipped = max(t.Skipped, len(t.Names(Skipped)))
}

const separator = " > " // separates a test's name from the names of the groups around it

// nesting is the groups around a line of an indented list, the innermost last.
type nesting []level

type level struct {
	indent int
	name   string
}

const maxLevels = 50

// enter begins a group: lines with a larger indent belong to it.
func (b *nesting) enter(indent int, name string) {
	b.leaveTo(indent)
	if len(*b) < maxLevels {
		*b = append(*b, level{indent, shorten(name)})
	}
}

// leaveTo leaves the groups with this indent or a larger one.
func (b *nesting) leaveTo(indent int) {
	for len(*b) > 0 && (*b)[len(*b)-1].indent >= indent {
		b.leave()
	}
}

func (b *nesting) leave() {
	if n := len(*b); n > 0 {
		*b = (*b)[:n-1]
	}
}

// has reports whether the innermost group has this name and indent.
func (b *nesting) has(indent int, name string) bool {
	n := len(*b)
	return n > 0 && (*b)[n-1] == level{indent, shorten(name)}
}

// shorten returns a name that is too long as tidy does.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	return tidy(name)
}

// String returns the names of the groups.
func (b *nesting) String() string {
	names := make([]string, 0, len(*b))
	for _, part := range *b {
		names = append(names, part.name)
	}
	return strings.Join(names, separator)
}

// These limits bound the memory that a hostile output needs.
const (
	maxTests = 50_000 // of a runner: failed or broken ones, and as many others
	maxName  = 300    // bytes
)

// results collects what a reader finds in the output of one runner.
type results struct {
	recognized bool            // the output is certainly this runner's
	counts     map[Outcome]int // from totals: some runners do not name passed tests
	cut        bool
	packages   int // that passed, with no test named

	tests   []Test
	repeats map[Test]int // how often each test was added
	failed  int          // number of failed and broken tests
	other   int          // number of other tests
}

func (s *results) end() *results { return s }

// add adds a test, even if it was added before.
func (s *results) add(name string, outcome Outcome) {
	test := Test{tidy(name), outcome}
	if test.Name == "" {
		return
	}
	if s.repeats == nil {
		s.repeats = map[Test]int{}
	}
	if !s.reserve(outcome) {
		return
	}
	s.repeats[test]++
	if n := s.repeats[test]; n > 1 {
		test.Name = fmt.Sprintf("%s (%d)", test.Name, n)
	}
	s.tests = append(s.tests, test)
}

// addOnce adds a test unless it was added before.
func (s *results) addOnce(name string, outcome Outcome) {
	if s.repeats[Test{tidy(name), outcome}] == 0 {
		s.add(name, outcome)
	}
}

// reserve counts a test and reports whether it fits. Many passed tests cannot displace a failed one.
func (s *results) reserve(outcome Outcome) bool {
	count := &s.other
	if outcome == Failed || outcome == Broken {
		count = &s.failed
	}
	if *count >= maxTests {
		s.cut = s.cut || count == &s.failed
		return false
	}
	*count++
	return true
}

func (s *results) addCount(outcome Outcome, n int) {
	if s.counts == nil {
		s.counts = map[Outcome]int{}
	}
	s.counts[outcome] += n
}

// dropParents removes failed tests that contain another failed test.
func (s *results) dropParents(separator string) {
	within := map[string]bool{}
	for _, test := range s.tests {
		if test.Outcome != Failed {
			continue
		}
		for i := strings.LastIndex(test.Name, separator); i > 0; i = strings.LastIndex(test.Name[:i], separator) {
			within[test.Name[:i]] = true
		}
	}
	s.tests = slices.DeleteFunc(s.tests, func(test Test) bool { return test.Outcome == Failed && within[test.Name] })
}

// tidy returns a name on one line. A hash replaces the end of a long name, so that names stay different.
func tidy(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "\uFFFD"), func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
	if len(name) <= maxName {
		return name
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // never fails
	end := maxName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return fmt.Sprintf("%s…%016x", name[:end], sum.Sum64())
}
