package publish_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/view"
)

// sandbox keeps every board it is shown.
type sb struct {
	mu     sync.Mutex
	boards []view.Texts
}

func (w *sb) Show(_ context.Context, board view.Texts) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.boards = append(w.boards, board)
	return nil
}

func (w *sb) last(t *testing.T, count int) view.Texts {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.boards) != count {
		t.Fatalf("shown %d boards, want %d", len(w.boards), count)
	}
	return w.boards[count-1]
}

// told is a run as it grows, a second an event.
type told struct {
	run journal.Run
	to  *publish.Publisher
}

func (s *told) event(events ...journal.Event) {
	for _, event := range events {
		at := time.Unix(int64(s.run.Seq), 0).UTC()
		s.run = journal.Fold(s.run, journal.Entry{Seq: s.run.Seq + 1, At: at, Event: event})
		s.to.Update(s.run)
		synctest.Wait()
	}
}

func begun(t *testing.T, to *publish.Publisher) *told {
	t.Helper()
	s := &told{to: to}
	s.event(journal.RunBegan{
		Run: "r1", Branch: "ralph/issue-1", Policy: policy.Policy{Publish: true},
		Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "A cart"}, {ID: "US-002", Title: "An order"}}},
	})
	return s
}

// What comes of an iteration and the begin of the next are shown together.
func TestBetweenTwoIterationsNothingIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &sb{}
		p := start(t, w)
		s := begun(t, p)
		<-time.After(pause)
		s.event(journal.IterationBegan{Number: 1, Story: "US-001"})
		w.last(t, 2)
		<-time.After(pause)
		s.event(journal.IterationEnded{Number: 1, Story: "US-001"}, journal.Pushed{Branch: "ralph/issue-1", SHA: "c1"})
		w.last(t, 2)
		s.event(journal.IterationBegan{Number: 2, Story: "US-002"})
		w.last(t, 3)
		<-time.After(pause)

		// Where the next does not come, people are not left without what came.
		s.event(journal.IterationEnded{Number: 2, Story: "US-002"})
		<-time.After(pause - time.Nanosecond)
		w.last(t, 3)
		<-time.After(time.Nanosecond)
		synctest.Wait()
		w.last(t, 4)

		// And the end is shown at once.
		s.event(journal.RunStopped{Reason: policy.Cancelled})
		p.Close()
		if w.last(t, 5).State != view.Stopped {
			t.Error("the last board is not of the end")
		}
	})
}

// The first time a run is saved elsewhere is shown at once: if the machine died
// within the pause, no comment would confirm it.
func TestTheFirstTimeThatARunIsKeptIsShownAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &sb{}
		p := start(t, w)
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

// The pull request is not edited for what is half done.
func TestThePullRequestIsOfTheLastIterationThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &sb{}
		p := start(t, w)
		s := begun(t, p)
		s.event(journal.IterationBegan{Number: 1, Story: "US-001"}, journal.IterationEnded{Number: 1, Story: "US-001"}, journal.PullOpened{Number: 7, Draft: true})
		want := view.Of(s.run).Pull
		seen := slices.Clone(w.boards)
		for i, event := range []journal.Event{
			journal.IterationBegan{Number: 2, Story: "US-002"}, journal.AgentEnded{Tools: 3}, journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1"},
		} {
			<-time.After(pause)
			s.event(event)
			<-time.After(pause) // the end of an agent waits for what it left
			synctest.Wait()
			got := w.last(t, len(seen)+1+i)
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
		if got := w.last(t, len(seen)+4).Pull; got != view.Of(s.run).Pull {
			t.Errorf("in the end the pull request says\n%s", got.Body)
		}
	})
}
