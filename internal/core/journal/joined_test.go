package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// shown returns a run whose first work stands on its branch, with a pull request.
func shown(more ...journal.Event) journal.Run {
	before := []journal.Event{
		journal.RunBegan{Run: "r", Branch: "b", Base: "b0", Start: "b0", Tree: "t0", Work: "w0"},
		journal.IterationBegan{Number: 1},
		journal.AgentEnded{},
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "w1"},
		journal.IterationEnded{Number: 1},
		journal.Pushed{Branch: "b", SHA: "c1"},
		journal.PullOpened{Number: 3, Draft: true},
		journal.PublishFailed{Act: "ready"},
	}
	return minutely(append(before, more...)...)
}

// stand is what others may change of a run.
type stand struct {
	Head, Tree, Pushed, Base, Start, Met, Branch, Signed, Left string
	Pull, Parted                                               bool
}

func TestWhatOthersChange(t *testing.T) {
	moved := journal.Joined{Of: journal.OfBase, From: "c1", With: "b1", To: "m1", Tree: "t2"}
	for _, c := range []struct {
		why   string
		event journal.Event
		want  stand
	}{
		{
			"a push to the branch is merged, and stands there",
			journal.Joined{Of: journal.OfBranch, From: "c1", With: "d1", To: "m1", Tree: "t2"},
			stand{Head: "m1", Tree: "t2", Pushed: "d1", Base: "b0", Start: "b0", Branch: "b", Pull: true},
		},
		{"the base moved on", moved, stand{Head: "m1", Tree: "t2", Pushed: "c1", Base: "b1", Start: "b1", Met: "m1", Branch: "b", Pull: true}},
		{
			"the base contradicts the work",
			journal.Joined{Of: journal.OfBase, From: "c1", With: "b1", To: "c1", Tree: "t1", Conflicts: []string{"a"}},
			stand{Head: "c1", Tree: "t1", Pushed: "c1", Base: "b0", Start: "b0", Met: "c1", Branch: "b", Pull: true, Parted: true, Left: "w1"},
		},
		{
			"the branch is somebody else's now",
			journal.Branched{From: "b", To: "b-2"},
			stand{Head: "c1", Tree: "t1", Base: "b0", Start: "b0", Branch: "b-2", Left: "w1"},
		},
		{
			"signed, the tree is what it was",
			journal.Signed{From: "c1", To: "s1", Tree: "t1"},
			stand{Head: "s1", Tree: "t1", Pushed: "c1", Base: "b0", Start: "b0", Branch: "b", Signed: "s1", Pull: true, Left: "w1"},
		},
	} {
		run := shown(c.event)
		got := stand{
			run.Head, run.Tree, run.Published.Pushed, run.Base, run.Start, run.Merging.Met, run.Branch, run.Published.Signed, run.Iterations[0].Taken.Work,
			run.Published.Pull != nil, run.Merging.Parted != nil,
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.why, diff)
		}
		if len(run.Published.Failures) > 0 {
			t.Errorf("%s: what failed before still counts", c.why)
		}
	}
	signed := shown(moved, journal.Signed{From: "m1", To: "s1"})
	if signed.Merging.Met != "s1" {
		t.Errorf("met at %q, though the work is the same", signed.Merging.Met)
	}
	if again := shown(moved, journal.Joined{Conflicts: []string{"a"}}, journal.Resumed{}); again.Merging.Met != "" || again.Merging.Parted != nil {
		t.Errorf("gone on with, it is known already how others stand: %q, %v", again.Merging.Met, again.Merging.Parted)
	}
}

func TestTrailers(t *testing.T) {
	for _, c := range []struct {
		by    journal.Person
		story string
		want  []string
	}{
		{journal.Person{}, "", []string{"Ralph-Run: r"}},
		{journal.Person{Login: "ada-l", ID: 7}, "US-001", []string{"Ralph-Run: r", "Ralph-Story: US-001", "Co-authored-by: ada-l <7+ada-l@users.noreply.github.com>"}},
		{journal.Person{Login: "ada"}, "a\nSigned-off-by: b", []string{"Ralph-Run: r", "Ralph-Story: a Signed-off-by: b"}},
		{journal.Person{Login: "ada"}, "fixes #9 [skip ci]", []string{"Ralph-Run: r", "Ralph-Story: fixes `#`9 (skip ci)"}},
		{journal.Person{Login: "deploy[bot]", ID: 7}, "", []string{"Ralph-Run: r"}},
	} {
		if diff := cmp.Diff(c.want, journal.Run{ID: "r", By: c.by}.Trailers(c.story)); diff != "" {
			t.Errorf("trailers of %+v (-want +got):\n%s", c.by, diff)
		}
	}
}
