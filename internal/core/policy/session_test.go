package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// The numbers of the contract; no limit but its own.
func TestDefaultsOfSession(t *testing.T) {
	want := policy.Policy{
		Done: policy.ByPromise, Word: "DONE", Limits: policy.Limits{Iterations: 10},
		Session: policy.SessionRules{MinTools: 1},
	}
	if diff := cmp.Diff(want, policy.ForPreset(policy.ByPromise)); diff != "" {
		t.Errorf("Of (-want +got):\n%s", diff)
	}
	if got := want.PromiseTag(); got != "<promise>DONE</promise>" {
		t.Errorf("PromiseTag = %s", got)
	}
	if got := policy.ForPreset(policy.ByResponse).PromiseTag(); got != "<response>DONE</response>" {
		t.Errorf("PromiseTag of a run that ends by a response = %s", got)
	}
}

// The statuses that a loop within a session has always had.
func TestShout(t *testing.T) {
	for reason, want := range map[policy.Reason]string{
		policy.PromiseAccepted: "PROMISE_ACCEPTED", policy.MaxIterations: "MAX_ITERATIONS_REACHED", policy.Waiting: "WAITING",
	} {
		if got := reason.SessionStatus(); got != want {
			t.Errorf("%s.Shout() = %s, want %s", reason, got, want)
		}
	}
}
