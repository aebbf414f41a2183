package upkeep_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

func TestAttemptsEnd(t *testing.T) {
	head, pull := 0, 0
	for a, ok := (plan.Attempts{}).Next("h1"); ok; a, ok = a.Next("h1") {
		head++
	}
	for a, ok := (plan.Attempts{}).Next("h0"); ok; a, ok = a.Next(strings.Repeat("h", a.OfPull)) {
		pull++
	}
	if head != 3 || pull != 5 {
		t.Errorf("%d attempts of a head and %d of a pull request, want 3 and 5", head, pull)
	}
}

func TestRelevantEndsWithTheError(t *testing.T) {
	got := upkeep.Relevant("Run make\nFAIL: cart\n##[error]Process completed with exit code 2.\nPost job cleanup.\n")
	if diff := cmp.Diff("Run make\nFAIL: cart\n##[error]Process completed with exit code 2.", got); diff != "" {
		t.Error(diff)
	}
	if got := upkeep.Relevant("other CI"); got != "other CI" {
		t.Errorf("Relevant = %q", got)
	}
}

// A run that goes on after its job was killed did not look at what is red: the question
// names nothing then.
func TestTheQuestion(t *testing.T) {
	for want, red := range map[string][]trigger.Check{
		" 5 a pull request). What is missing?":                nil,
		" 5 a pull request): `e2e`, `unit`. What is missing?": {{Name: "unit"}, {Name: "e2e"}},
	} {
		if got := upkeep.Question(red); !strings.Contains(got, want) {
			t.Errorf("Question = %q, want %q", got, want)
		}
	}
}
