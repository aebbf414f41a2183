package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

func TestSetupFailures(t *testing.T) {
	for want, ended := range map[string]journal.SetupEnded{
		"":                                     {Name: "npm ci", Passed: true},
		"setup failed: npm ci (exit 3)":        {Name: "npm ci", Exit: 3},
		"setup failed: npm ci ran out of time": {Name: "npm ci", Exit: 143, TimedOut: true},
		"setup failed: npm ci cannot run here (exit 127)": {Name: "npm ci", Exit: 127, CannotRun: true},
	} {
		if got := ended.Failure(); got != want {
			t.Errorf("Failure of %+v = %q, want %q", ended, got, want)
		}
	}
}

// A run that continues with other checks, or after another setup, has nothing
// proven by the old ones.
func TestProofsAreByRules(t *testing.T) {
	before := began()
	before.Policy.Checks = policy.NewChecks([]string{"make test"}, 0)
	before.Policy.Setup = policy.NewSetup([]string{"npm ci"}, 0)
	for name, test := range map[string]struct {
		change func(*policy.Policy)
		found  bool
	}{
		"the same":     {func(*policy.Policy) {}, true},
		"more money":   {func(p *policy.Policy) { p.Limits.CostUSD++ }, true},
		"other checks": {func(p *policy.Policy) { p.Checks = policy.NewChecks([]string{"make lint"}, 0) }, false},
		"other setup":  {func(p *policy.Policy) { p.Setup = nil }, false},
	} {
		after := before.Policy
		test.change(&after)
		run := minutely(before, journal.ProofEnded{Tree: "t1", Passed: true}, journal.Resumed{Policy: &after})
		if _, found := run.ProofOf("t1"); found != test.found {
			t.Errorf("%s: proof found %v, want %v", name, found, test.found)
		}
	}
}
