package view_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// On a pull request of others, the comment alone has what ralph's own pull requests have in their text.
func TestCommentOnOthersPull(t *testing.T) {
	run := journal.Run{Task: plan.Task{Kind: plan.KindPull}, Policy: policy.Policy{Publish: true, NoPull: true}, Level: "none"}
	run.Published.Pushed = "c1"
	run.Published.Comment = &journal.CommentPosted{Quiet: true}
	for _, want := range []string{"nothing confined the agent", "**Approve workflows to run**"} {
		if text := view.Comment(run); !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
