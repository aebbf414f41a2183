package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
)

// An event that has no place, as no iteration is under way, is passed over.
func TestEventsWithoutAPlace(t *testing.T) {
	over := journal.IterationEnded{Number: 1, Story: "US-001"}
	lone := plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}
	for name, before := range map[string][]journal.Event{
		"before the first iteration": {journal.RunBegan{Plan: lone}},
		"after the last one":         {journal.RunBegan{Plan: lone}, journal.IterationBegan{Number: 1}, over},
	} {
		for _, event := range sample() {
			switch event.(type) { //nolint:gochecksumtype // these open one, or begin anew
			case journal.RunBegan, journal.IterationBegan:
				continue
			}
			was := minutely(before...)
			run := journal.Fold(was, journal.Entry{Seq: was.Seq + 1, At: noon, Event: event})
			if len(run.Iterations) != len(was.Iterations) || run.Plan.UserStories[0].Passes {
				t.Errorf("%s: %s makes iterations %+v, stories %+v", name, journal.Type(event), run.Iterations, run.Plan.UserStories)
			}
		}
	}
	if run := minutely(journal.PullReadied{Number: 3}); run.Published.Pull != nil {
		t.Errorf("an unopened pull request is ready: %+v", run.Published.Pull)
	}
}
