package publish_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// screen records the texts that it shows, and waits for its gate if it has one.
type screen struct {
	mu     sync.Mutex
	boards []view.Texts
	began  chan string   // nil: not told
	gate   chan struct{} // nil: is open
	fails  error
	heals  int // it fails so often only; 0: for ever
}

func (s *screen) Show(_ context.Context, board view.Texts) error {
	s.mu.Lock()
	s.boards = append(s.boards, board)
	seen := len(s.boards)
	s.mu.Unlock()
	if s.began != nil {
		s.began <- board.Run
	}
	if s.gate != nil {
		<-s.gate
	}
	if s.heals > 0 && seen > s.heals {
		return nil
	}
	return s.fails
}

func (s *screen) want(t *testing.T, ids ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var shown []string
	for _, board := range s.boards {
		shown = append(shown, board.Run)
	}
	if !slices.Equal(shown, ids) {
		t.Errorf("shown %v, want %v", shown, ids)
	}
}

// last returns the last of count texts.
func (s *screen) last(t *testing.T, count int) view.Texts {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.boards) != count {
		t.Fatalf("shown %d boards, want %d", len(s.boards), count)
	}
	return s.boards[count-1]
}

func run(id string) journal.Run { return journal.Run{ID: id} }

const pause = 15 * time.Second

func start(t *testing.T, screens ...publish.Screen) *publish.Publisher {
	t.Helper()
	p := &publish.Publisher{Screens: screens, Interval: pause, Failed: func(err error) { t.Errorf("Failed(%v)", err) }}
	p.Start(t.Context())
	return p
}

// The first state is shown at once, and after a pause only the newest.
func TestAfterAPauseOnlyTheNewestIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		p := start(t, s.Show)
		for _, id := range []string{"1", "2", "3"} {
			p.Update(run(id))
			synctest.Wait()
		}
		<-time.After(pause - time.Nanosecond)
		synctest.Wait()
		s.want(t, "1")
		p.Update(run("4"))
		<-time.After(time.Nanosecond)
		synctest.Wait()
		s.want(t, "1", "4")

		// No state is shown twice. After a pause without updates, the next is shown at once.
		<-time.After(2 * pause)
		synctest.Wait()
		s.want(t, "1", "4")
		p.Update(run("5"))
		synctest.Wait()
		s.want(t, "1", "4", "5")
		p.Close()
		s.want(t, "1", "4", "5")
	})
}

func TestNoticeNeverWaitsForAScreen(t *testing.T) {
	s := &screen{began: make(chan string, 9), gate: make(chan struct{})}
	p := &publish.Publisher{Screens: []publish.Screen{s.Show}}
	p.Start(t.Context())
	p.Update(run("1"))
	<-s.began // and stays there
	for _, id := range []string{"2", "3", "4"} {
		p.Update(run(id))
	}
	close(s.gate)
	p.Close()
	s.want(t, "1", "4")
}

func TestCloseShowsWhatWasLeftAndTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, s := time.Now(), &screen{}
		p := trying(t, s.Show)
		p.Update(run("1"))
		synctest.Wait()
		p.Update(run("2"))
		synctest.Wait()
		s.fails = errors.New("502")
		p.Update(run("3"))
		p.Close()
		s.want(t, "1", "3", "3")
		if took := time.Since(began); took != 0 {
			t.Errorf("Close waited %s for the pause to end", took)
		}
	})
}

// trying starts a publisher whose screens can fail.
func trying(t *testing.T, screens ...publish.Screen) *publish.Publisher {
	t.Helper()
	p := &publish.Publisher{Screens: screens, Interval: pause, Failed: func(error) {}}
	p.Start(t.Context())
	return p
}

func TestWhatCouldNotBeShownIsShownAfterThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{fails: errors.New("502"), heals: 2}
		p := trying(t, s.Show)
		p.Update(run("1"))
		synctest.Wait()
		s.want(t, "1")
		<-time.After(pause)
		synctest.Wait()
		s.want(t, "1", "1")
		p.Update(run("2")) // the newest is what counts then, too
		<-time.After(pause)
		synctest.Wait()
		s.want(t, "1", "1", "2")
		<-time.After(2 * pause)
		p.Close()
		s.want(t, "1", "1", "2")
	})
}

func TestAScreenThatFailsIsReportedOnceAndStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, whole := &screen{fails: errors.New("403")}, &screen{}
		var told []error
		p := &publish.Publisher{Screens: []publish.Screen{broken.Show, whole.Show}, Failed: func(err error) { told = append(told, err) }}
		p.Start(t.Context())
		p.Update(run("1"))
		<-time.After(3500 * time.Millisecond)
		synctest.Wait()
		broken.want(t, "1", "1", "1", "1") // and is left alone in between
		p.Close()
		if len(whole.boards) == 0 {
			t.Error("the other screen was not shown")
		}
		if len(told) != 1 || !errors.Is(told[0], broken.fails) {
			t.Errorf("told of %v, want %v once", told, broken.fails)
		}
	})
}

func TestNothingIsShownOnceTheRunHadToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, hush := context.WithCancel(t.Context())
		s := &screen{}
		p := &publish.Publisher{Screens: []publish.Screen{s.Show}, Interval: pause}
		p.Start(ctx)
		p.Update(run("1"))
		synctest.Wait()
		p.Update(run("2"))
		hush()
		p.Close()
		s.want(t, "1")
	})
}

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
