package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// What was found out is left out, of checks and of setup, and the policy that
// was asked keeps it.
func TestNamed(t *testing.T) {
	named, found := policy.Check{Name: "test", Command: "make test"}, policy.Check{Name: "lint", Command: "make lint", Detected: true}
	whole := policy.Policy{Word: "DONE", Checks: []policy.Check{found, named}, Setup: []policy.Check{named, found}}
	want := policy.Policy{Word: "DONE", Checks: []policy.Check{named}, Setup: []policy.Check{named}}
	if diff := cmp.Diff(want, whole.Configured()); diff != "" {
		t.Errorf("Named (-want +got):\n%s", diff)
	}
	if len(whole.Checks) != 2 || whole.Checks[0] != found || len(whole.Setup) != 2 || whole.Setup[1] != found {
		t.Errorf("Named took them from the policy itself: %+v", whole)
	}
}
