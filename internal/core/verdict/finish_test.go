package verdict_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
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

func fails(act string, whys ...string) (all []journal.Event) {
	for _, why := range whys {
		all = append(all, journal.PublishFailed{Act: act, Head: "c1", Why: why})
	}
	return all
}

func TestPublishing(t *testing.T) {
	shown := func(stories int, change func(*policy.Policy)) journal.RunBegan {
		return beginRun(func(b *journal.RunBegan) {
			b.Policy.Publish = true
			b.Plan.UserStories = b.Plan.UserStories[:stories]
			if change != nil {
				change(&b.Policy)
			}
		})
	}
	pushed := journal.Pushed{SHA: "c1"}
	met := journal.Joined{Of: journal.OfBase, From: "c1", With: "b0", To: "c1"}
	nothing := iteration{story: "US-001", to: "c1", work: "w"}.events()
	const lost = "stop: fatal_error: the work is done, but could not be published: the third"
	for _, c := range []struct {
		why   string
		began journal.RunBegan
		then  [][]journal.Event
		want  string
	}{
		{"no pull request before a story passed", shown(2, nil), [][]journal.Event{nothing, {pushed}}, "iterate: 2 on US-001"},
		{"a push that failed twice is tried again", shown(1, nil), [][]journal.Event{green(), fails("push", "a", "b")}, "push: c1"},
		{"the last of three says why", shown(1, nil), [][]journal.Event{green(), fails("push", "a", "b", "the third")}, lost},
		{"no pull request was made", shown(1, nil), [][]journal.Event{green(), {pushed}, fails("open", "a", "b", "the third")}, lost},
		{
			"the pull request lacks the newest", shown(1, nil),
			[][]journal.Event{green(), {journal.Pushed{SHA: "c0"}, journal.PullOpened{Draft: true}}, fails("push", "a", "b", "the third")},
			lost,
		},
		{
			"no pull request is wanted", shown(1, func(p *policy.Policy) { p.NoPull = true }),
			[][]journal.Event{green(), {pushed}},
			"stop: all_stories_passed",
		},
		{"it cannot be made ready", shown(1, nil), [][]journal.Event{green(), {pushed, journal.PullOpened{Draft: true}, met}, fails("ready", "a", "b", "c")}, "stop: all_stories_passed"},
		{"the merge of remote changes failed", shown(1, nil), [][]journal.Event{green(), {pushed, journal.PullOpened{Draft: true}}, fails("join", "a", "b", "c")}, "stop: all_stories_passed"},
	} {
		wantNext(t, c.why, c.want, fold(slices.Concat(append([][]journal.Event{{c.began}}, c.then...)...)...))
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
