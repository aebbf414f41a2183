package prompt_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
)

// An agent in its user's own tree may change what instructs agents; one whose
// work is handed over is told that this is put back.
func TestProtectedFilesAreSpokenOfWhereTheyAreProtected(t *testing.T) {
	for _, handed := range []bool{false, true} {
		run := journal.Run{
			Policy: policy.ForPreset(policy.ByStories),
			Plan:   plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "A cart", AcceptanceCriteria: []string{"adds"}}}},
		}
		run.Policy.Publish = handed
		text, err := prompt.ForTurn(run, prompt.Turn{Number: 1, Story: "US-001"})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(text, "the program restores them"); told != handed {
			t.Errorf("handed over %v: told %v in\n%s", handed, told, text)
		}
	}
}
