package journal_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Two runs that go on from the same one know nothing of each other.
func TestRunsThatPartShareNothing(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 17))
		common, one, other := odd(dice), odd(dice), odd(dice)
		for i := range other {
			other[i].Event = apart(other[i].Event)
		}
		want := journal.Fold(oneByOne(common), one...)
		prefix := oneByOne(common)
		got := journal.Fold(prefix, one...)
		_ = journal.Fold(prefix, other...)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("seed %d: one run changed the other (-before +after):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

// Where lists grow they are not the same list.
func TestListsThatGrowApart(t *testing.T) {
	at := func(where journal.Where) journal.Event { return journal.CheckEnded{Where: where, Name: "test"} }
	for _, event := range []journal.Event{
		journal.Noted{},
		journal.EgressRefused{},
		journal.EgressPassed{},
		journal.PublishFailed{},
		journal.Joined{Of: journal.OfBase, To: "c9"},
		journal.Branched{},
		journal.ProofEnded{},
		journal.StoryReviewed{},
		journal.PlanDrafted{},
		journal.SCMEnded{},
		at(journal.AtBase), at(journal.AtWork), at(journal.AtHead), at(journal.AtOldTests), at(journal.AtNewTests),
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Commit: "c9"},
		journal.SetupEnded{Where: journal.AtHead},
		journal.SetupEnded{Where: journal.AtNewTests},
	} {
		common := []journal.Event{began(), journal.IterationBegan{Number: 1}, event, event, event}
		want := minutely(append(common, event)...)
		run := minutely(common...)
		entry := journal.Entry{Seq: len(common) + 1, At: minute(len(common)), Event: event}
		got := journal.Fold(run, entry)
		entry.Event = apart(event)
		_ = journal.Fold(run, entry)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: another run changed this one (-before +after):\n%s", journal.Type(event), diff)
		}
	}
}

func oneByOne(entries []journal.Entry) journal.Run {
	var run journal.Run
	for _, entry := range entries {
		run = journal.Fold(run, entry)
	}
	return run
}

// apart is event with words of its own, so that it can be told from another of
// its type.
func apart(event journal.Event) journal.Event {
	switch e := event.(type) {
	case journal.Noted:
		e.What = "apart"
		return e
	case journal.EgressRefused:
		e.What = "apart"
		return e
	case journal.EgressPassed:
		e.Hosts = []journal.Passage{{Host: "apart"}}
		return e
	case journal.CheckEnded:
		e.Name = "apart"
		return e
	case journal.SetupEnded:
		e.Name = "apart"
		return e
	case journal.IterationBegan:
		e.Story = "apart"
		return e
	case journal.IterationEnded:
		e.Passed = []string{"US-002"}
		return e
	case journal.ProofEnded:
		e.Why = "apart"
		return e
	case journal.SCMEnded:
		e.Message = "apart"
		return e
	case journal.StoryReviewed:
		e.Why = "apart"
		return e
	case journal.PlanDrafted:
		e.Why = "apart"
		return e
	case journal.PublishFailed:
		e.Why = "apart"
		return e
	case journal.Joined:
		e.Aside = "apart"
		return e
	case journal.Branched:
		e.Why = "apart"
		return e
	case journal.AgentEnded, journal.BaselineEnded, journal.CancelAsked, journal.CommentPosted, journal.CommitsTaken,
		journal.Delivered, journal.Packed, journal.Paused, journal.PlanRead, journal.PullOpened, journal.PullReadied, journal.Pushed, journal.Resumed,
		journal.RunBegan, journal.RunStopped, journal.Shelved, journal.Signed, journal.TaskLooked, journal.TaskSettled:
		// the newest of these counts
	}
	return event
}
