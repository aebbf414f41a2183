package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/tally"
)

// Tests is the result of a check's tests, as far as its output names them. The exit code decides.
type Tests struct {
	Runner  string `json:"runner"` // one or several test runners
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped,omitempty"`

	// Packages is how many of Passed are packages of Go of which no test is named.
	Packages int `json:"packages,omitempty"`

	Red    []string `json:"red,omitempty"`    // the tests that failed, sorted, at most 200
	Broken []string `json:"broken,omitempty"` // failures that are no test: a failed build, an interrupted run
	Cut    bool     `json:"cut,omitempty"`    // Red and Broken are incomplete
	Digest string   `json:"digest,omitempty"` // sha256 of the sorted names of failures, each on a line; empty if unknown
	// Asked holds the outcome of each test that was looked for by name.
	Asked map[string]tally.Outcome `json:"asked,omitempty"`
	All   Attachment               `json:"all,omitzero"` // every test, as "passed name" on a line; beside the log
}

// FailureList lists what failed.
func (t *Tests) FailureList() string {
	more := ""
	if t.Cut {
		more = " and more"
	}
	return ShortList(t.Failing()) + more
}

// ShortList joins some names, and says how many more there are.
func ShortList(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// Failing names what failed.
func (t *Tests) Failing() []string {
	if t == nil {
		return nil
	}
	return slices.Concat(t.Red, t.Broken)
}

func (c CheckEnded) hasFailed() bool { return !c.Passed }

// TellsTests reports whether the check passed, or names all that fails.
func (c CheckEnded) TellsTests() bool {
	return c.Passed || c.HasNamedFailures() && len(c.Tests.Broken) == 0
}

// HasNamedFailures reports whether the check ran to its end and names the tests that failed.
func (c CheckEnded) HasNamedFailures() bool {
	return !c.Passed && !c.TimedOut && !c.CannotRun && c.Tests != nil && len(c.Tests.Red) > 0
}

// BaseCheck returns the result of the named check at the base.
func (r Run) BaseCheck(name string) (CheckEnded, bool) {
	return FindCheck(r.BaseChecks, name)
}

// FindCheck returns the named one of some checks.
func FindCheck(checks []CheckEnded, name string) (CheckEnded, bool) {
	if at := slices.IndexFunc(checks, func(c CheckEnded) bool { return c.Name == name }); at >= 0 {
		return checks[at], true
	}
	return CheckEnded{}, false
}

// PassedInFirstRun reports whether a test is known to have passed in the first of two runs.
func (c CheckEnded) PassedInFirstRun(name string) bool {
	return c.First != nil && c.First.Tests != nil && c.First.Tests.Asked[name] == tally.Passed
}

// Outcome returns how the named test ended, if known.
func (c CheckEnded) Outcome(name string) tally.Outcome {
	if c.Tests == nil {
		return tally.Absent
	}
	if how, asked := c.Tests.Asked[name]; asked {
		return how
	}
	if slices.Contains(c.Tests.Failing(), name) {
		return tally.Failed
	}
	return tally.Absent
}
