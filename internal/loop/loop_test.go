package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// record is a journal in memory, which can be full.
type record struct {
	run    journal.Run
	events []string
	room   int // how many more events it takes; below 0: no limit
}

var errFull = errors.New("no space left on device")

func (r *record) Run() journal.Run { return r.run }

func (r *record) Append(event journal.Event) error {
	if r.room == 0 {
		return errFull
	}
	r.room--
	entry := journal.Entry{Seq: r.run.Seq + 1, At: r.run.Now.Add(time.Second), Event: event}
	r.run = journal.Fold(r.run, entry)
	r.events = append(r.events, journal.Type(event))
	return nil
}

func begun() *record {
	r := &record{room: -1}
	p := policy.ForPreset(policy.Stories)
	p.Publish = true
	story := plan.Story{ID: "US-001", Title: "one", AcceptanceCriteria: []string{"a"}, Priority: 1}
	_ = r.Append(journal.RunBegan{Run: "r", Policy: p, Plan: plan.Plan{UserStories: []plan.Story{story}}, Base: "b0", Start: "b0"})
	r.events = nil
	return r
}

// play returns handlers that succeed.
func play() loop.Handlers {
	return loop.Handlers{
		Baseline: func(_ context.Context, _ journal.Run, _ verdict.Baseline, emit func(journal.Event)) error {
			emit(journal.BaselineEnded{Usable: true})
			return nil
		},
		Iterate: func(_ context.Context, _ journal.Run, s verdict.Iterate, emit func(journal.Event)) error {
			emit(journal.IterationBegan{Number: s.Number, Story: s.Story})
			emit(journal.AgentEnded{Tools: 1})
			return nil
		},
		ReadPlan: func(_ context.Context, run journal.Run, _ verdict.ReadPlan, emit func(journal.Event)) error {
			emit(journal.PlanRead{Plan: run.Plan, Claimed: []string{"US-001"}})
			return nil
		},
		TakeCommits: func(_ context.Context, _ journal.Run, s verdict.TakeCommits, emit func(journal.Event)) error {
			emit(journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1", Swept: s.Leftovers})
			return nil
		},
		Prove: func(_ context.Context, _ journal.Run, s verdict.Prove, emit func(journal.Event)) error {
			emit(journal.ProofEnded{Commit: s.Commit, Tree: s.Tree, Passed: true})
			return nil
		},
		Inspect: func(_ context.Context, _ journal.Run, s verdict.Inspect, emit func(journal.Event)) error {
			emit(journal.ChangeInspected{Commit: s.Commit, Tree: s.Tree})
			return nil
		},
		Grade: func(_ context.Context, _ journal.Run, s verdict.Grade, emit func(journal.Event)) error {
			emit(journal.StoryGraded{Story: s.Story, Commit: s.Commit, Grade: journal.RedToGreen})
			return nil
		},
		Push: func(_ context.Context, _ journal.Run, s verdict.Push, emit func(journal.Event)) error {
			emit(journal.Pushed{SHA: s.SHA})
			return nil
		},
		OpenPull: func(_ context.Context, _ journal.Run, _ verdict.OpenPull, emit func(journal.Event)) error {
			emit(journal.PullOpened{Number: 1, Draft: true})
			return nil
		},
		MergeRemote: func(_ context.Context, run journal.Run, _ verdict.MergeRemote, emit func(journal.Event)) error {
			emit(journal.Joined{Of: journal.OfBase, From: run.Head, To: run.Head, With: run.Base})
			return nil
		},
		MarkPullReady: func(_ context.Context, _ journal.Run, _ verdict.MarkPullReady, emit func(journal.Event)) error {
			emit(journal.PullReadied{Number: 1})
			return nil
		},
	}
}

const whole = "baseline_ended iteration_began agent_ended plan_read commits_taken proof_ended change_inspected story_graded iteration_ended " +
	"pushed pull_opened joined pull_readied run_stopped"

func TestARunFromBeginningToEnd(t *testing.T) {
	r := begun()
	if err := (loop.Loop{Handlers: play(), Journal: r}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.events, " "); got != whole {
		t.Errorf("events = %s\nwant     %s", got, whole)
	}
	if r.run.Stop.Reason != policy.AllStoriesPassed {
		t.Errorf("stopped for %s", r.run.Stop.Reason)
	}
}

// A handler that fails ends the run with a recorded reason.
func TestABrokenStepEndsTheRun(t *testing.T) {
	r, hands := begun(), play()
	broken := errors.New("the disk is on fire")
	hands.TakeCommits = func(context.Context, journal.Run, verdict.TakeCommits, func(journal.Event)) error { return broken }
	err := loop.Loop{Handlers: hands, Journal: r}.Run(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("Go = %v, want %v", err, broken)
	}
	if r.run.Stop == nil || r.run.Stop.Reason != policy.FatalError || !strings.Contains(r.run.Stop.Why, "on fire") {
		t.Errorf("stopped with %+v", r.run.Stop)
	}
}

func TestAHandThatSaysNothingIsNotAskedForEver(t *testing.T) {
	r, hands := begun(), play()
	hands.ReadPlan = func(context.Context, journal.Run, verdict.ReadPlan, func(journal.Event)) error { return nil }
	err := loop.Loop{Handlers: hands, Journal: r}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "reported nothing") {
		t.Errorf("Go = %v", err)
	}
}

// No step follows an event that could not be written.
func TestNothingIsDoneThatIsNotOnRecord(t *testing.T) {
	for room := range strings.Count(whole, " ") + 1 {
		r := begun()
		r.room = room
		err := loop.Loop{Handlers: play(), Journal: r}.Run(t.Context())
		if !errors.Is(err, errFull) {
			t.Fatalf("room for %d: Go = %v, want %v", room, err, errFull)
		}
		if len(r.events) != room {
			t.Errorf("room for %d: %d events", room, len(r.events))
		}
	}
}

// A run that is cancelled while the agent works saves and publishes the work before it
// stops.
func TestCancelSavesTheWork(t *testing.T) {
	r, hands := begun(), play()
	ctx, cancel := context.WithCancelCause(t.Context())
	hands.Iterate = func(_ context.Context, _ journal.Run, s verdict.Iterate, emit func(journal.Event)) error {
		emit(journal.IterationBegan{Number: s.Number, Story: s.Story})
		cancel(errors.New("SIGINT"))
		emit(journal.AgentEnded{Failed: true, Why: "interrupted"})
		return ctx.Err()
	}
	if err := (loop.Loop{Handlers: hands, Journal: r, SaveTimeout: time.Minute}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	want := "baseline_ended iteration_began agent_ended cancel_asked commits_taken pushed run_stopped"
	if got := strings.Join(r.events, " "); got != want {
		t.Errorf("events = %s\nwant     %s", got, want)
	}
	if r.run.Stop.Reason != policy.Cancelled || r.run.Stop.Why != "SIGINT" {
		t.Errorf("stopped with %+v", r.run.Stop)
	}
}

// After Drain is closed, the current step ends normally.
func TestDrainLetsTheStepEnd(t *testing.T) {
	r, hands := begun(), play()
	drain := make(chan struct{})
	iterate := hands.Iterate
	hands.Iterate = func(ctx context.Context, run journal.Run, s verdict.Iterate, emit func(journal.Event)) error {
		close(drain)
		return iterate(ctx, run, s, emit)
	}
	if err := (loop.Loop{Handlers: hands, Journal: r, Drain: drain, SaveTimeout: time.Minute}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.run.Stop.Reason != policy.Cancelled || !strings.Contains(strings.Join(r.events, " "), "agent_ended cancel_asked") {
		t.Errorf("stopped for %s after %v", r.run.Stop.Reason, r.events)
	}
}

// The run ends even if the work cannot be saved.
func TestARescueThatFailsStillEnds(t *testing.T) {
	r, hands := begun(), play()
	ctx, cancel := context.WithCancel(t.Context())
	iterate := hands.Iterate
	hands.Iterate = func(c context.Context, run journal.Run, s verdict.Iterate, emit func(journal.Event)) error {
		defer cancel()
		return iterate(c, run, s, emit)
	}
	hands.TakeCommits = func(context.Context, journal.Run, verdict.TakeCommits, func(journal.Event)) error {
		return errors.New("git is gone")
	}
	err := loop.Loop{Handlers: hands, Journal: r, SaveTimeout: time.Minute}.Run(ctx)
	if err == nil || r.run.Stop == nil {
		t.Errorf("Go = %v, stopped with %+v", err, r.run.Stop)
	}
}

// A run that is killed after any event and resumed has every event once, in order.
func TestGoingOnAfterAnyEvent(t *testing.T) {
	for room := range strings.Count(whole, " ") + 1 {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			r := begun()
			r.room = room
			if err := (loop.Loop{Handlers: play(), Journal: r}).Run(t.Context()); !errors.Is(err, errFull) {
				t.Fatal(err)
			}
			r.room = -1
			if err := r.Append(journal.Resumed{Why: "killed"}); err != nil {
				t.Fatal(err)
			}
			if err := (loop.Loop{Handlers: play(), Journal: r}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(1, r.run.PassedStories()); diff != "" || len(r.run.Iterations) != 1 {
				t.Errorf("%d passed in %d iterations, want 1 in 1: %v", r.run.PassedStories(), len(r.run.Iterations), r.events)
			}
		})
	}
}
