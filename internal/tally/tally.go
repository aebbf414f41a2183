// Package tally reads what test runners print and tells the tests by name. It
// believes no runner further than that: whether a check passed is for its exit
// code to say. It opens no files, and hostile output costs bounded memory.
package tally

import (
	"slices"
	"strings"
)

// Outcome is how a test ended.
type Outcome string

// How a test can end. What is broken failed without being a test: a package
// that does not build, a file that cannot be loaded, a run that broke off.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
	Broken  Outcome = "broken"
	// Absent is a test that was asked for by name and not told of: it did not
	// run, is gone, or its runner does not name those that passed.
	Absent Outcome = "absent"
)

// Test is one test, named as its runner names it. Where several of a name ended
// alike, the second is "name (2)".
type Test struct {
	Name    string
	Outcome Outcome
}

// Tally is what an output said of tests.
type Tally struct {
	Runners []string // those recognised
	Tests   []Test   // in the order in which they were told
	// How many there were; more than are in Tests where a runner counts what it
	// does not name.
	Passed, Failed, Skipped int
	// Cut tells that not everything was read or kept: more may have failed.
	Cut bool
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
