package publish_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// growingRun is a run that grows by one event each second.
type growingRun struct {
	run journal.Run
	to  *publish.Publisher
}

func (s *growingRun) event(events ...journal.Event) {
	for _, event := range events {
		at := time.Unix(int64(s.run.Seq), 0).UTC()
		s.run = journal.Fold(s.run, journal.Entry{Seq: s.run.Seq + 1, At: at, Event: event})
		s.to.Update(s.run)
		synctest.Wait()
	}
}

func begun(t *testing.T, to *publish.Publisher) *growingRun {
	t.Helper()
	s := &growingRun{to: to}
	s.event(journal.RunBegan{
		Run: "r1", Branch: "ralph/issue-1", Policy: policy.Policy{Publish: true},
		Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "A cart"}, {ID: "US-002", Title: "An order"}}},
	})
	return s
}

// The first save of a run is shown at once: if the machine failed in the pause, no comment
// would confirm it.
func TestTheFirstTimeThatARunIsKeptIsShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &screen{}
		p := start(t, w.Show)
		s := begun(t, p)
		w.last(t, 1)
		s.event(journal.IterationBegan{Number: 1, Story: "US-001"}, journal.IterationEnded{Number: 1, Story: "US-001"})
		w.last(t, 1)
		s.event(journal.Shelved{Ref: "refs/ralph/issue-1", Commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Ended: 1})
		if got := w.last(t, 2).Comment; !strings.Contains(got, "4b825dc642cb6eb9a060e54bf8d69288fbee4904") {
			t.Errorf("the comment does not vouch for what is kept:\n%s", got)
		}
		s.event(journal.IterationBegan{Number: 2, Story: "US-002"}, journal.IterationEnded{Number: 2, Story: "US-002"})
		s.event(journal.Shelved{Ref: "refs/ralph/issue-1", Commit: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", Ended: 2})
		w.last(t, 2)
		p.Close()
		w.last(t, 3)
	})
}

// The pull request is not updated within an iteration.
func TestThePullRequestIsOfTheLastIterationThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &screen{}
		p := start(t, w.Show)
		s := begun(t, p)
		s.event(journal.IterationBegan{Number: 1, Story: "US-001"}, journal.IterationEnded{Number: 1, Story: "US-001"}, journal.PullOpened{Number: 7, Draft: true})
		want := view.Of(s.run).Pull
		<-time.After(pause)
		synctest.Wait()
		seen := len(w.boards)
		for i, event := range []journal.Event{
			journal.IterationBegan{Number: 2, Story: "US-002"}, journal.AgentEnded{Tools: 3}, journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1"},
		} {
			<-time.After(pause)
			s.event(event)
			got := w.last(t, seen+1+i)
			if got.Pull != want {
				t.Errorf("after %s the pull request says\n%s\nwant\n%s", journal.Type(event), got.Pull.Body, want.Body)
			}
			if got.Comment != view.Of(s.run).Comment {
				t.Errorf("after %s the comment lags behind:\n%s", journal.Type(event), got.Comment)
			}
		}
		<-time.After(pause)
		s.event(journal.RunStopped{Reason: policy.Cancelled})
		p.Close()
		if got := w.last(t, seen+4).Pull; got != view.Of(s.run).Pull {
			t.Errorf("in the end the pull request says\n%s", got.Body)
		}
	})
}
