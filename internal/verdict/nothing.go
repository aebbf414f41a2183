package verdict

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// unheld is why it is not believed that a story was done before anything was;
// empty where that is shown, or is not what is claimed.
func unheld(run journal.Run, it journal.Iteration) string {
	story, found := run.Plan.Find(it.Story)
	if !found || !run.Untouched() || !run.Known(story, it.Proof.Commit) || run.HeldBefore(it.Story) {
		return ""
	}
	return "nothing was changed for it, and testedBy does not name a test for each of its criteria that is green at the base"
}

// nothing is why there was nothing to do.
func nothing(run journal.Run) string {
	var shown []string
	for _, story := range run.Plan.UserStories {
		if graded, _ := run.GradeOf(story.ID); run.HeldBefore(story.ID) {
			shown = append(shown, story.ID+" by "+journal.Few(slices.Compact(slices.Sorted(slices.Values(graded.Held)))))
		}
	}
	if len(shown) == 0 {
		return "every story is marked as passed, and no file was changed"
	}
	return "what is asked for is so already, no file was changed, and tests that are green at the base show it: " + strings.Join(shown, "; ")
}
