package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// The numbers of the contract; no limit but its own.
func TestDefaultsOfSupervised(t *testing.T) {
	want := policy.Policy{
		Done:   policy.ByFile,
		Limits: policy.Limits{Iterations: 100},
		Supervision: policy.Supervision{
			Delay: policy.Duration(time.Second), Poll: policy.Duration(time.Second), Wait: policy.Duration(300 * time.Second),
		},
	}
	if diff := cmp.Diff(want, policy.ForPreset(policy.ByFile)); diff != "" {
		t.Errorf("Of (-want +got):\n%s", diff)
	}
}
