package journal

import (
	"fmt"
	"slices"
	"strings"
)

// Tests is the result of a check's tests, if it reports them by name. The exit code decides.
type Tests struct {
	Passed  int        `json:"passed"`
	Failed  int        `json:"failed"`
	Skipped int        `json:"skipped,omitempty"`
	Red     []string   `json:"red,omitempty"`    // the tests that failed, sorted, at most 200
	Broken  []string   `json:"broken,omitempty"` // failures that are no test: a failed build, an interrupted run
	Cut     bool       `json:"cut,omitempty"`    // Red and Broken are incomplete
	All     Attachment `json:"all,omitzero"`     // every test, as "passed name" on a line; beside the log
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

// HasNamedFailures reports whether the check ran to its end and names all that failed.
func (c CheckEnded) HasNamedFailures() bool {
	if c.Passed || c.TimedOut || c.CannotRun {
		return false
	}
	if c.Tests == nil || c.Tests.Cut {
		return false
	}
	return len(c.Tests.Red)+len(c.Tests.Broken) > 0
}

// BaseCheck returns the result of the named check at the base.
func (r Run) BaseCheck(name string) (CheckEnded, bool) {
	return FindCheck(r.BaseChecks, name)
}

// FindCheck returns the named one of some checks.
func FindCheck(checks []CheckEnded, name string) (CheckEnded, bool) {
	for _, check := range checks {
		if check.Name == name {
			return check, true
		}
	}
	return CheckEnded{}, false
}
