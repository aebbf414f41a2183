package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// What was seen of a task holds until something happens to it.
func TestALookIsOfTheMoment(t *testing.T) {
	for _, c := range []struct {
		then  journal.Event
		holds bool
	}{
		{journal.Noted{}, true},
		{journal.TaskSettled{}, true},
		{journal.IterationBegan{}, false},
		{journal.AgentEnded{}, false},
		{journal.Paused{}, false},
	} {
		if run := minutely(began(), journal.TaskLooked{}, c.then); (run.Looked != nil) != c.holds {
			t.Errorf("after %s the look is %v, want it kept: %v", journal.Type(c.then), run.Looked, c.holds)
		}
	}
	if run := minutely(began(), journal.IterationBegan{}, journal.Paused{}, journal.TaskLooked{}); !run.Iterations[0].Paused || run.Settled != nil {
		t.Errorf("paused %v, settled %v, want the one and not the other", run.Iterations[0].Paused, run.Settled)
	}
	if run := minutely(began(), journal.Paused{MS: 1}); len(run.Iterations) != 0 {
		t.Errorf("a pause made %d iterations", len(run.Iterations))
	}
}

// What an agent says of its plan changes no word of the program's, whenever it
// says it, and no event.
func TestWhatPassedStaysPassed(t *testing.T) {
	first := began()
	doubtful := journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}, {ID: "US-003", Passes: true}}}}
	run := minutely(
		first, journal.IterationBegan{Number: 1}, journal.IterationEnded{Passed: []string{"US-001"}},
		journal.IterationBegan{Number: 2}, doubtful,
	)
	passes := map[string]bool{}
	for _, story := range run.Plan.UserStories {
		passes[story.ID] = story.Passes
	}
	if diff := cmp.Diff(map[string]bool{"US-001": true, "US-002": false, "US-003": false}, passes); diff != "" || run.PassedStories() != 1 {
		t.Errorf("%d pass (-want +got):\n%s", run.PassedStories(), diff)
	}
	if first.Plan.UserStories[0].Passes {
		t.Error("a fold wrote to the event that began the run")
	}
}

func TestWorkThatIsLeftUncommitted(t *testing.T) {
	for _, c := range []struct {
		taken journal.CommitsTaken
		want  bool
	}{
		{journal.CommitsTaken{}, false},
		{journal.CommitsTaken{Dirty: true}, true},
		{journal.CommitsTaken{Dirty: true, Swept: true}, false},
	} {
		if run := minutely(began(), journal.CommitsTaken{Dirty: true, Swept: !c.want}, c.taken); run.Dirty != c.want {
			t.Errorf("after %+v the tree is dirty: %v, want %v", c.taken, run.Dirty, c.want)
		}
	}
}

func TestWhatIsUsedSinceTheLimitsWereGranted(t *testing.T) {
	spent := journal.AgentEnded{Cost: cost(2), Usage: stream.Usage{Output: 7}}
	run := minutely(began(), journal.IterationBegan{}, spent, journal.IterationEnded{}, journal.Resumed{}, journal.IterationBegan{}, spent)
	if run.Elapsed() != 2*time.Minute || run.SpentUSD() != 2 || run.SpentTokens() != 7 || run.UsedIterations() != 1 {
		t.Errorf("%s, %v dollars, %d tokens and %d iterations are used", run.Elapsed(), run.SpentUSD(), run.SpentTokens(), run.UsedIterations())
	}
	if it := minutely(began(), journal.IterationBegan{}).Iterations[0]; !it.Last.Equal(minute(1)) {
		t.Errorf("the newest event of an iteration is of %s, want its own beginning", it.Last)
	}
}
