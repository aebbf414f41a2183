package verdict

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// whyUntested returns why a story without a change is rejected, unless tests show that it holds.
func whyUntested(run journal.Run, it journal.Iteration) string {
	story, found := run.Plan.Find(it.Story)
	graded, _ := run.GradeOf(it.Story)
	if !found || !graded.Idle || !IsGradeCurrent(run, story, it.Proof.Commit) || len(graded.Held) > 0 {
		return ""
	}
	return "nothing was changed for it, and testedBy does not name a green test for each of its criteria"
}

func whyNothingToDo(run journal.Run) string {
	var shown []string
	for _, story := range run.Plan.UserStories {
		if graded, _ := run.GradeOf(story.ID); len(graded.Held) > 0 {
			shown = append(shown, story.ID+" by "+journal.ShortList(slices.Compact(slices.Sorted(slices.Values(graded.Held)))))
		}
	}
	if len(shown) == 0 {
		return "every story is marked as passed, and no file was changed"
	}
	return "the request is already met: no file was changed, and tests that are green at the base show it: " + strings.Join(shown, "; ")
}
