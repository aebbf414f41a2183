package verdict_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
)

// green returns the events of an iteration in which a story passes, and the proof of the whole change.
func green() []journal.Event {
	return []journal.Event{
		journal.IterationBegan{Number: 1, Story: "US-001"},
		journal.AgentEnded{Tools: 1},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "tree-c1", Work: "tree-c1"},
		journal.CheckEnded{Where: journal.AtHead, Name: "test", Passed: true},
		journal.ProofEnded{Story: "US-001", Base: "b0", Commit: "c1", Tree: "tree-c1", Passed: true, Result: journal.Proven},
		journal.IterationEnded{Number: 1, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"}},
		journal.ProofEnded{Base: "b0", Commit: "c1", Tree: "tree-c1", Passed: true, Result: journal.Proven, Reused: true},
	}
}

// Something on GitHub is tried three times. The last try says why work was not published.
func TestPublishing(t *testing.T) {
	began := beginRun(func(b *journal.RunBegan) {
		b.Policy.Publish = true
		b.Plan.UserStories = b.Plan.UserStories[:1]
	})
	draft := []journal.Event{journal.Pushed{SHA: "c1"}, journal.PullOpened{Draft: true}}
	met := append(slices.Clone(draft), journal.Joined{Of: journal.OfBase, From: "c1", With: "b0", To: "c1"})
	for _, c := range []struct {
		act    string
		before []journal.Event
		twice  string
		thrice string
	}{
		{"push", nil, "push: c1", "stop: fatal_error: the work is done, but could not be published: 502"},
		{"join", draft, "merge remote", "stop: all_stories_passed"},
		{"ready", met, "mark pull ready", "stop: all_stories_passed"},
	} {
		failed := journal.PublishFailed{Act: c.act, Head: "c1", Why: "502"}
		events := slices.Concat([]journal.Event{began}, green(), c.before, []journal.Event{failed, failed})
		wantNext(t, c.act+" failed twice", c.twice, fold(events...))
		wantNext(t, c.act+" failed three times", c.thrice, fold(append(events, failed)...))
	}
}

func TestRunWithoutAChange(t *testing.T) {
	marked := beginRun(func(b *journal.RunBegan) {
		b.Plan.UserStories, b.Tree, b.Start, b.Base = []plan.Story{{ID: "US-001", Passes: true}}, "", "", ""
	})
	wantNext(t, "no repository, and all was done before", "stop: nothing_to_do: every story is marked as passed, and no file was changed", fold(marked))
	marked.Tree, marked.Start, marked.Base, marked.Policy.Publish = "tree-b0", "b0", "b0", true
	wantNext(t, "uncommitted work counts, and cannot be published", "stop: all_stories_passed",
		fold(marked, journal.ProofEnded{Base: "b0", Tree: "tree-b0", Passed: true, Result: journal.NoNewFailingTest}, journal.CommitsTaken{Dirty: true}))
}
