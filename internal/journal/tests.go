package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Tests is what the test runner of a check said, as far as its output names
// tests. It never outweighs the exit code: it only tells failures apart.
type Tests struct {
	Runner  string `json:"runner"` // which it is; several where there are several
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped int    `json:"skipped,omitempty"`

	Red    []string `json:"red,omitempty"`    // the tests that failed, sorted, at most 200
	Broken []string `json:"broken,omitempty"` // what failed and is no test: what did not build, a run that broke off
	Cut    bool     `json:"cut,omitempty"`    // Red and Broken are not all that failed
	Digest string   `json:"digest,omitempty"` // sha256 of the names of all that failed, sorted, each on a line; none where they are not known
	// Asked is how those tests ended that were asked for by name, "absent" for
	// one that was not told of.
	Asked map[string]tally.Outcome `json:"asked,omitempty"`
	All   Attachment               `json:"all,omitzero"` // every test, as "passed name" on a line; beside the log
}

// Told is what failed, in words.
func (t *Tests) Told() string {
	more := ""
	if t.Cut {
		more = " and more"
	}
	return Few(t.Failing()) + more
}

// Few is names in words: some of them, and how many more there are.
func Few(names []string) string {
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

// Named tells whether the check failed, and its failures can be told from
// others: it came to its end, and tests of it failed by name.
func (c CheckEnded) Named() bool {
	return !c.Passed && !c.TimedOut && !c.CannotRun && c.Tests != nil && len(c.Tests.Red) > 0
}

// AtBase is what the check named name said at the base.
func (r Run) AtBase(name string) (CheckEnded, bool) {
	for _, base := range r.BaseChecks {
		if base.Name == name {
			return base, true
		}
	}
	return CheckEnded{}, false
}

// RedBefore names what of the check named name failed at the base already;
// none where it passed there, or its failures have no names to go by.
func (r Run) RedBefore(name string) []string {
	if base, found := r.AtBase(name); found && base.Named() {
		return base.Tests.Failing()
	}
	return nil
}

// Blocks tells whether a failure of the check named name can hold a story
// back. One that could not run at the base never does; one that was red there
// does under a strict baseline, or where its failures of then are known by name.
func (r Run) Blocks(name string) bool {
	base, found := r.AtBase(name)
	if !found || base.Passed {
		return true
	}
	ran := !base.CannotRun && !base.TimedOut
	return ran && (r.Policy.Baseline == policy.BaselineStrict && !r.detected(name) || base.Named())
}

// Holds tells whether the check, as it ended, holds a story back: it failed,
// and not only with what failed at the base.
func (r Run) Holds(check CheckEnded) bool {
	if check.Passed || !r.Blocks(check.Name) {
		return false
	}
	base, found := r.AtBase(check.Name)
	if !found || base.Passed || r.Policy.Baseline == policy.BaselineStrict {
		return true
	}
	return !explained(base, check)
}

// explained tells that a check is red with what was red at the base and nothing
// else. What cannot be told counts as new.
func explained(base, now CheckEnded) bool {
	const bySignal = 128
	switch {
	case now.TimedOut || now.CannotRun || now.Exit >= bySignal && now.Exit != base.Exit:
		return false
	case len(now.Tests.Failing()) == 0:
		return false
	case base.Tests.Cut || now.Tests.Cut:
		return now.Tests.Digest != "" && now.Tests.Digest == base.Tests.Digest
	}
	return len(fresh(base, now)) == 0
}

// fresh is what failed now and did not at the base.
func fresh(base, now CheckEnded) []string {
	before := base.Tests.Failing()
	return slices.DeleteFunc(now.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// Fresh names what holds a story back in a check that was red before; none
// where that cannot be told.
func (r Run) Fresh(check CheckEnded) []string {
	base, found := r.AtBase(check.Name)
	if check.Passed || !found || !base.Named() || base.Tests.Cut {
		return nil
	}
	return fresh(base, check)
}

// Proves tells whether what the check said is worth something: it was green at
// the base, or tests of it that pass are told from those that failed there. What
// the task itself brought along proves nothing.
func (r Run) Proves(check CheckEnded) bool {
	base, found := r.AtBase(check.Name)
	if !found || r.Brought(check.Name) {
		return false
	}
	return base.Passed || base.Named() && check.Tests != nil && check.Tests.Passed > 0
}

// detected tells whether nobody named the check: then it cannot be what somebody
// wants to be green.
func (r Run) detected(name string) bool {
	return slices.ContainsFunc(r.Policy.Checks, func(check policy.Check) bool { return check.Name == name && check.Detected })
}

// Brought tells whether the task itself named the check: whoever wrote it could
// have written one that always passes.
func (r Run) Brought(name string) bool {
	return slices.ContainsFunc(r.Policy.Checks, func(check policy.Check) bool { return check.Name == name && check.Added })
}

// Outcome is how the test of that name ended, as far as the record tells.
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
