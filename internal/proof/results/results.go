// Package results reads the results of tests by name, from `go test -json` and from JUnit XML. The exit code decides
// whether a check passed; names are for people, and to tell which tests failed before. It opens no files, and hostile
// output needs bounded memory.
package results

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Outcome is how a test ended.
type Outcome string

// How a test can end. Broken is a failure of something other than a test, such as a package that does not build.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
	Broken  Outcome = "broken"
	Absent  Outcome = "absent" // no result has the name
)

// Results are the tests of a check, by name. Of a name that occurs twice, the worse outcome counts.
type Results struct {
	Cut   bool // there are more than are kept
	tests map[string]Outcome
}

// Limits of what is kept.
const (
	maxTests = 100_000
	maxName  = 1000 // bytes
)

// Add adds a test.
func (r *Results) Add(name string, outcome Outcome) {
	name = oneLine(name)
	if name == "" {
		return
	}
	if r.tests == nil {
		r.tests = map[string]Outcome{}
	}
	before, known := r.tests[name]
	if !known && len(r.tests) >= maxTests {
		r.Cut = true
		return
	}
	if severity(outcome) > severity(before) {
		r.tests[name] = outcome
	}
}

func severity(o Outcome) int { return slices.Index([]Outcome{Skipped, Passed, Failed, Broken}, o) }

// Len returns the number of tests.
func (r Results) Len() int { return len(r.tests) }

// Of returns the outcome of a test.
func (r Results) Of(name string) Outcome { return cmp.Or(r.tests[name], Absent) }

// Names returns the sorted names of the tests with these outcomes.
func (r Results) Names(outcomes ...Outcome) []string {
	var names []string
	for name, outcome := range r.tests {
		if slices.Contains(outcomes, outcome) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// String returns a line for each test: "passed NAME".
func (r Results) String() string {
	var text strings.Builder
	for _, outcome := range []Outcome{Passed, Failed, Skipped, Broken} {
		for _, name := range r.Names(outcome) {
			text.WriteString(string(outcome) + " " + name + "\n")
		}
	}
	return text.String()
}

// Parse reads what String wrote.
func Parse(text string) Results {
	var read Results
	for line := range strings.Lines(text) {
		outcome, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if severity(Outcome(outcome)) >= 0 {
			read.Add(name, Outcome(outcome))
		}
	}
	return read
}

// Function returns the name of a test without its case: without subtests in Go, without parameters elsewhere.
func Function(name string) string {
	for _, prefix := range []string{".Test", ".Example", ".Fuzz"} { // a package's path has slashes, too
		at := strings.Index(name, prefix)
		if at < 0 {
			continue
		}
		if end := strings.Index(name[at:], "/"); end >= 0 {
			return name[:at+end]
		}
		return name
	}
	group := max(strings.LastIndex(name, " > "), 0) // files before it may have brackets, too
	bracket := group + strings.Index(name[group:], "[")
	if bracket > group && strings.HasSuffix(name, "]") {
		return name[:bracket]
	}
	return name
}

// oneLine returns a name on one line, and cuts a long one.
func oneLine(name string) string {
	return clean.Truncate(clean.OneLine(strings.ToValidUTF8(name, "\uFFFD")), maxName)
}
