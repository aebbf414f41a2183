// Package tally reads the output of test runners and returns the tests by
// name. The exit code decides whether a check passed. It opens no files, and
// hostile output needs bounded memory.
package tally

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Outcome is how a test ended.
type Outcome string

// How a test can end. Broken is what failed and is no test, as a package that does not build.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
	Broken  Outcome = "broken"
	// Absent is a test that was asked for and not named: gone, not run, or passed.
	Absent Outcome = "absent"
)

// Test is one test, as its runner names it; the second of a name and outcome is "name (2)".
type Test struct {
	Name    string
	Outcome Outcome
}

// Tally is what an output said of tests.
type Tally struct {
	Runners                 []string // those recognised
	Tests                   []Test   // in the order in which they were told
	Passed, Failed, Skipped int      // How many there were; a runner may count more than it names.
	Cut                     bool     // not everything was read or kept: more may have failed.
}

// Names are the tests that ended so, sorted.
func (t Tally) Names(how ...Outcome) []string {
	var names []string
	for _, test := range t.Tests {
		if slices.Contains(how, test.Outcome) {
			names = append(names, test.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Of is how the test of that name ended, the worst where there are several.
func (t Tally) Of(name string) Outcome {
	found := Absent
	for _, test := range t.Tests {
		if test.Name == name && badness(test.Outcome) > badness(found) {
			found = test.Outcome
		}
	}
	return found
}

func badness(o Outcome) int {
	return slices.Index([]Outcome{Skipped, Passed, Failed, Broken}, o)
}

// String is every test on a line of its own, "passed name".
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
		how, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !found || badness(Outcome(how)) < 0 {
			continue
		}
		read.Tests = append(read.Tests, Test{name, Outcome(how)})
	}
	read.count()
	return read
}

// count raises the counts to what the names amount to.
func (t *Tally) count() {
	t.Passed = max(t.Passed, len(t.Names(Passed)))
	t.Failed = max(t.Failed, len(t.Names(Failed)))
	t.Skipped = max(t.Skipped, len(t.Names(Skipped)))
}

const between = " > " // stands between the names of a test and of what it is within

// branch is where a line stands in a list that is told by indents.
type branch []part

type part struct {
	indent int
	name   string
}

const deepest = 50

// enter says that what is further in than indent belongs to name, up to a line that is not.
func (b *branch) enter(indent int, name string) {
	b.back(indent)
	if len(*b) < deepest {
		*b = append(*b, part{indent, kept(name)})
	}
}

// back leaves what is as far in as indent, or further.
func (b *branch) back(indent int) {
	for len(*b) > 0 && (*b)[len(*b)-1].indent >= indent {
		b.leave()
	}
}

func (b *branch) leave() {
	if n := len(*b); n > 0 {
		*b = (*b)[:n-1]
	}
}

// has tells whether name, that far in, is the innermost.
func (b *branch) has(indent int, name string) bool {
	n := len(*b)
	return n > 0 && (*b)[n-1] == part{indent, kept(name)}
}

// kept is name as long as can be kept. It is made tidy where a test has it.
func kept(name string) string {
	if len(name) <= longName {
		return name
	}
	return tidy(name)
}

// String is the name of the innermost, with all that it is within.
func (b *branch) String() string {
	names := make([]string, 0, len(*b))
	for _, part := range *b {
		names = append(names, part.name)
	}
	return strings.Join(names, between)
}

// How much is kept of an output, so that a hostile one costs little.
const (
	mostTests = 50_000 // of each runner, and as many that failed
	longName  = 300    // bytes
)

// sheet is where a reader of one runner's output writes.
type sheet struct {
	seen bool            // it is the runner's output, for certain
	told map[Outcome]int // counts what a sum said, as some runners do not name those that passed.
	cut  bool

	tests  []Test
	times  map[Test]int
	failed int // of these, and of the rest, how many are kept
	other  int
}

func (s *sheet) end() *sheet { return s }

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

// room tells whether another test can be kept. Many passed ones cannot hide failed ones.
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

func (s *sheet) tell(how Outcome, n int) {
	if s.told == nil {
		s.told = map[Outcome]int{}
	}
	s.told[how] += n
}

// leaves takes out what failed only because something within it did, by the sign between names.
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
	s.tests = slices.DeleteFunc(s.tests, func(test Test) bool { return test.Outcome == Failed && within[test.Name] })
}

// tidy is name on one line, and cut if too long; what is cut off still tells two apart.
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
