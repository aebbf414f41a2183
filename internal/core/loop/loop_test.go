package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
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
	entry := journal.Entry{Seq: r.run.Seq + 1, At: r.run.Clock.Now.Add(time.Second), Event: event}
	r.run = journal.Fold(r.run, entry)
	r.events = append(r.events, journal.Type(event))
	return nil
}

func begun() *record {
	r := &record{room: -1}
	p := policy.ForPreset(policy.ByStories)
	p.Publish = true
	story := plan.Story{ID: "US-001", Title: "one", AcceptanceCriteria: []string{"a"}, Priority: 1}
	_ = r.Append(journal.RunBegan{Run: "r", Policy: p, Plan: plan.Plan{UserStories: []plan.Story{story}}, Base: "b0", Start: "b0"})
	r.events = nil
	return r
}

// hands do steps by the name of their type. Steps without a function succeed.
type hands map[string]func(emit func(journal.Event)) error

func (h hands) do(_ context.Context, run journal.Run, step verdict.Step, emit func(journal.Event)) error {
	if own, ok := h[fmt.Sprintf("%T", step)]; ok {
		return own(emit)
	}
	for _, event := range success(run, step) {
		emit(event)
	}
	return nil
}

// success returns the events of a step that succeeds.
func success(run journal.Run, step verdict.Step) []journal.Event {
	switch s := step.(type) { //nolint:gochecksumtype // a run has no other steps here
	case verdict.Baseline:
		return []journal.Event{journal.BaselineEnded{Usable: true}}
	case verdict.Iterate:
		return []journal.Event{journal.IterationBegan{Number: s.Number, Story: s.Story}, journal.AgentEnded{Tools: 1}}
	case verdict.ReadPlan:
		return []journal.Event{journal.PlanRead{Plan: run.Plan, Claimed: []string{"US-001"}}}
	case verdict.TakeCommits:
		return []journal.Event{journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1", Swept: s.Leftovers}}
	case verdict.Prove:
		return []journal.Event{journal.ProofEnded{
			Story: s.Story, Base: "b0", Commit: s.Commit, Tree: s.Tree, Passed: true, Result: journal.Proven,
		}}
	case verdict.Push:
		return []journal.Event{journal.Pushed{SHA: s.SHA}}
	case verdict.OpenPull:
		return []journal.Event{journal.PullOpened{Number: 1, Draft: true}}
	case verdict.MergeRemote:
		return []journal.Event{journal.Joined{Of: journal.OfBase, From: run.Head, To: run.Head, With: run.Base}}
	case verdict.MarkPullReady:
		return []journal.Event{journal.PullReadied{Number: 1}}
	}
	return nil
}

const whole = "baseline_ended iteration_began agent_ended plan_read commits_taken proof_ended iteration_ended " +
	"pushed pull_opened proof_ended joined pull_readied run_stopped"

func TestARunFromBeginningToEnd(t *testing.T) {
	r := begun()
	if err := (loop.Loop{Do: hands{}.do, Journal: r}).Run(t.Context()); err != nil {
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
	r, steps := begun(), hands{}
	broken := errors.New("the disk is on fire")
	steps["verdict.TakeCommits"] = func(func(journal.Event)) error { return broken }
	err := loop.Loop{Do: steps.do, Journal: r}.Run(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("Go = %v, want %v", err, broken)
	}
	if r.run.Stop == nil || r.run.Stop.Reason != policy.FatalError || !strings.Contains(r.run.Stop.Why, "on fire") {
		t.Errorf("stopped with %+v", r.run.Stop)
	}
}

func TestAHandThatSaysNothingIsNotAskedForEver(t *testing.T) {
	r, steps := begun(), hands{}
	steps["verdict.ReadPlan"] = func(func(journal.Event)) error { return nil }
	err := loop.Loop{Do: steps.do, Journal: r}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "reported nothing") {
		t.Errorf("Go = %v", err)
	}
}

// A run that is cancelled while the agent works saves and publishes the work before it
// stops.
func TestCancelSavesTheWork(t *testing.T) {
	r, steps := begun(), hands{}
	ctx, cancel := context.WithCancelCause(t.Context())
	steps["verdict.Iterate"] = func(emit func(journal.Event)) error {
		emit(journal.IterationBegan{Number: 1, Story: "US-001"})
		cancel(errors.New("SIGINT"))
		emit(journal.AgentEnded{Failed: true, Why: "interrupted"})
		return ctx.Err()
	}
	if err := (loop.Loop{Do: steps.do, Journal: r, SaveTimeout: time.Minute}).Run(ctx); err != nil {
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
	r, steps := begun(), hands{}
	drain := make(chan struct{})
	steps["verdict.Baseline"] = func(emit func(journal.Event)) error {
		close(drain)
		emit(journal.BaselineEnded{Usable: true})
		return nil
	}
	if err := (loop.Loop{Do: steps.do, Journal: r, Drain: drain, SaveTimeout: time.Minute}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.run.Stop.Reason != policy.Cancelled || !strings.Contains(strings.Join(r.events, " "), "baseline_ended cancel_asked") {
		t.Errorf("stopped for %s after %v", r.run.Stop.Reason, r.events)
	}
}

// The run ends even if the work cannot be saved.
func TestARescueThatFailsStillEnds(t *testing.T) {
	r, steps := begun(), hands{}
	ctx, cancel := context.WithCancel(t.Context())
	steps["verdict.Iterate"] = func(emit func(journal.Event)) error {
		emit(journal.IterationBegan{Number: 1, Story: "US-001"})
		emit(journal.AgentEnded{Tools: 1})
		cancel()
		return nil
	}
	steps["verdict.TakeCommits"] = func(func(journal.Event)) error {
		return errors.New("git is gone")
	}
	err := loop.Loop{Do: steps.do, Journal: r, SaveTimeout: time.Minute}.Run(ctx)
	if err == nil || r.run.Stop == nil {
		t.Errorf("Go = %v, stopped with %+v", err, r.run.Stop)
	}
}

// No step follows an event that could not be written. A run that is resumed after that has every event once, in order.
func TestGoingOnAfterAnyEvent(t *testing.T) {
	for room := range strings.Count(whole, " ") + 1 {
		r := begun()
		r.room = room
		if err := (loop.Loop{Do: hands{}.do, Journal: r}).Run(t.Context()); !errors.Is(err, errFull) || len(r.events) != room {
			t.Fatalf("room for %d: Run = %v, want %v after as many events, not %d", room, err, errFull, len(r.events))
		}
		r.room = -1
		if err := r.Append(journal.Resumed{Why: "killed"}); err != nil {
			t.Fatal(err)
		}
		if err := (loop.Loop{Do: hands{}.do, Journal: r}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r.run.PassedStories() != 1 || len(r.run.Iterations) != 1 {
			t.Errorf("%d passed in %d iterations, want 1 in 1: %v", r.run.PassedStories(), len(r.run.Iterations), r.events)
		}
	}
}
