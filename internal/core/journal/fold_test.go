package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// minutely folds events that happened a minute apart, from noon on.
func minutely(events ...journal.Event) journal.Run {
	var run journal.Run
	for i, event := range events {
		run = journal.Fold(run, journal.Entry{Seq: i + 1, At: minute(i), Event: event})
	}
	return run
}

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// Every event leaves its mark, and nothing but its mark.
func TestWhatARunAmountsTo(t *testing.T) {
	stories := func(passes bool) []plan.Story {
		return []plan.Story{{ID: "US-001", Title: "one", Passes: passes}, {ID: "US-002", Title: "two"}}
	}
	first := journal.RunBegan{
		Run: "r1", Task: plan.Task{Title: "A shop"}, Plan: plan.Plan{Project: "shop", UserStories: stories(false)}, Source: "json",
		Branch: "ralph/shop", BaseRef: "main", Base: "b0", Start: "s0", Tree: "t0", Work: "w0", Level: "none",
		Links: journal.Links{Repo: "repo", Log: "log"},
	}
	lied := plan.Plan{Project: "ours", UserStories: []plan.Story{{ID: "US-001", Title: "uno", Passes: true}, {ID: "US-002", Title: "due", Passes: true}}}
	var (
		noted   = journal.Noted{What: "no sandbox"}
		refused = journal.EgressRefused{What: "a.example:443"}
		passed  = journal.EgressPassed{
			Hosts: []journal.Passage{{Host: "b:1", Times: 1, Up: 2, Down: 3}, {Host: "a:1", Up: 1}, {Host: "b:1", Times: 1, Up: 1, Down: 1}},
			Rest:  &journal.Passage{Down: 9},
		}
		posted  = journal.CommentPosted{ID: 7}
		atBase  = journal.CheckEnded{Where: journal.AtBase, Name: "test", Passed: true}
		based   = journal.BaselineEnded{Usable: true}
		prompt  = journal.Attachment{Path: "p"}
		agent   = journal.AgentEnded{Tools: 2, Usage: stream.Usage{Input: 10}, Cost: cost(0.5)}
		read    = journal.PlanRead{Plan: lied, Claimed: []string{"US-001"}}
		atWork  = journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true}
		taken   = journal.CommitsTaken{From: "s0", To: "c1", Tree: "t1", Work: "t1", Dirty: true}
		before  = journal.CheckEnded{Where: journal.AtBase, Commit: "c0", Name: "test"}
		atHead  = journal.CheckEnded{Where: journal.AtHead, Name: "test"}
		setup   = journal.SetupEnded{Where: journal.AtHead, Name: "npm ci"}
		old     = journal.CheckEnded{Where: journal.AtOldTests, Name: "test"}
		atTests = journal.CheckEnded{Where: journal.AtNewTests, Name: "test"}
		trial   = journal.SetupEnded{Where: journal.AtNewTests, Name: "npm ci"}
		scm     = journal.SCMEnded{Task: "commit", CostUSD: 0.25}
		ended   = journal.IterationEnded{Number: 1, Story: "US-001", Passed: []string{"US-001"}}
		failed  = journal.PublishFailed{Act: "push", Why: "502"}
		opened  = journal.PullOpened{Number: 3, Draft: true}
		looked  = journal.TaskLooked{Done: true}
		settled = journal.TaskSettled{Reason: policy.DoneFile}
		cancel  = journal.CancelAsked{Why: "SIGINT"}
		stopped = journal.RunStopped{Reason: policy.Cancelled}
	)
	run := minutely(
		first, noted, refused, posted, // 0 to 3
		atBase, based, // 4 and 5
		journal.IterationBegan{Number: 1, Story: "US-001", Prompt: prompt, Bus: 9}, agent, read, atWork, taken, // 6 to 10
		before, atHead, setup, old, trial, atTests, // 11 to 16
		journal.ProofEnded{Story: "US-001", Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: journal.Proven, Why: "so", Restored: []string{"ci"}}, // 17
		scm, ended, journal.ProofEnded{Base: "b0", Commit: "c1", Tree: "t1", Reused: true}, // 18 to 20
		journal.Pushed{SHA: "c1"}, opened, failed, // 21 to 23
		journal.IterationBegan{Number: 2, Story: "US-002"}, journal.AgentEnded{}, // 24 and 25
		journal.CommitsTaken{Dirty: true, Swept: true}, journal.IterationEnded{Number: 2, Story: "US-002"}, // 26 and 27
		journal.Paused{MS: 1500}, looked, settled, cancel, stopped, // 28 to 32
		atHead, setup, old, atTests, trial, passed, // 33 to 38
	)
	empty := journal.CommitsTaken{Dirty: true, Swept: true}
	ended2 := journal.IterationEnded{Number: 2, Story: "US-002"}
	proof := journal.Proof{
		Story: "US-001", Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: journal.Proven, Why: "so", Restored: []string{"ci"},
		Checks: journal.Runs{
			Base: []journal.CheckEnded{before}, Head: []journal.CheckEnded{atHead}, OldTests: []journal.CheckEnded{old}, NewTests: []journal.CheckEnded{atTests},
			Setup: []journal.SetupEnded{setup, trial},
		},
	}
	reused := journal.Proof{Base: "b0", Commit: "c1", Tree: "t1", Reused: true, Checks: proof.Checks}
	want := journal.Run{
		ID: "r1", Task: first.Task, Plan: plan.Plan{Project: "ours", UserStories: []plan.Story{
			{ID: "US-001", Title: "uno", Passes: true}, {ID: "US-002", Title: "due"},
		}},
		Branch: "ralph/shop", BaseRef: "main", Base: "b0", Start: "s0", Work: "w0", Level: "none", Links: first.Links,
		Seq: 39, Clock: journal.Clock{Began: minute(0), Now: minute(38), Granted: journal.Grant{At: minute(0)}},
		Baseline: &based, BaseChecks: []journal.CheckEnded{atBase},
		Iterations: []journal.Iteration{
			{
				Number: 1, Story: "US-001", Began: minute(6), Last: minute(19), Prompt: prompt, Bus: 9, Agent: &agent, Read: &read,
				Checks: []journal.CheckEnded{atWork}, Taken: &taken, Proof: &proof, SCM: []journal.SCMEnded{scm}, Ended: &ended,
			},
			{
				Number: 2, Story: "US-002", Began: minute(24), Last: minute(27), Agent: &journal.AgentEnded{}, Taken: &empty, Ended: &ended2,
				Paused: true, Wake: minute(28).Add(1500 * time.Millisecond),
			},
		},
		Head: "c1", Tree: "t1", Proofs: []journal.Proof{proof, reused},
		Proving: journal.Runs{
			Head: []journal.CheckEnded{atHead}, OldTests: []journal.CheckEnded{old}, NewTests: []journal.CheckEnded{atTests},
			Setup: []journal.SetupEnded{setup, trial},
		},
		Published: journal.Published{Pushed: "c1", Pull: &opened, Comment: &posted, Failures: []journal.PublishFailed{failed}},
		Notes:     []journal.Noted{noted},
		Box:       journal.Box{Refused: []journal.EgressRefused{refused}},
		Looked:    &looked, Settled: &settled, Cancel: &cancel, Stop: &stopped,
		Spent: journal.Spent{Usage: agent.Usage, CostUSD: 0.75},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("Fold (-want +got):\n%s", diff)
	}
	if !read.Plan.UserStories[1].Passes {
		t.Error("a fold wrote to an event it was given")
	}
	readied := journal.Fold(run, journal.Entry{Seq: 40, At: minute(39), Event: journal.PullReadied{}})
	if readied.Published.Pull.Draft || readied.Published.Pull.Number != 3 || readied.Published.Failures != nil || !run.Published.Pull.Draft {
		t.Errorf("ready: %+v, failures %v; before %+v", readied.Published.Pull, readied.Published.Failures, run.Published.Pull)
	}
}

// To go on is to forget what was cut off half way, and what somebody decided.
func TestWhatIsForgottenOnResume(t *testing.T) {
	check := journal.CheckEnded{Where: journal.AtWork, Name: "test"}
	at := func(where journal.Where) journal.CheckEnded { return journal.CheckEnded{Where: where, Name: "test"} }
	before := []journal.Event{
		began(),
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Passed: true},
		journal.IterationBegan{Number: 1},
		journal.AgentEnded{Usage: stream.Usage{Output: 5}},
		check,
		at(journal.AtHead),
		journal.SetupEnded{Where: journal.AtHead},
		at(journal.AtOldTests),
		at(journal.AtNewTests),
		journal.SetupEnded{Where: journal.AtNewTests},
		journal.PublishFailed{},
		journal.TaskSettled{},
		journal.TaskLooked{},
		journal.CancelAsked{},
		journal.RunStopped{},
	}
	run := minutely(append(before, journal.Resumed{Level: "notify"}, journal.Resumed{})...)
	if run.Level != "notify" || run.Clock.Resumed != 2 || run.Policy.Done != policy.ByStories {
		t.Errorf("level %q, resumed %d times by %q", run.Level, run.Clock.Resumed, run.Policy.Done)
	}
	if run.Stop != nil || run.Cancel != nil || run.Published.Failures != nil ||
		run.Looked != nil || run.Settled != nil || run.BaseChecks != nil || run.Iterations[0].Checks != nil {
		t.Errorf("not forgotten: %+v", run)
	}
	if diff := cmp.Diff(journal.Runs{}, run.Proving); diff != "" {
		t.Errorf("an unfinished proof (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(journal.Grant{At: minute(16), Tokens: 5}, run.Clock.Granted); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
	if run.Elapsed() != 0 || run.SpentTokens() != 0 {
		t.Errorf("%s gone, %d tokens used of limits granted just now", run.Elapsed(), run.SpentTokens())
	}

	kept := minutely(append(before, journal.BaselineEnded{}, journal.CommitsTaken{}, journal.Resumed{})...)
	if len(kept.BaseChecks) != 1 || len(kept.Iterations[0].Checks) != 1 {
		t.Errorf("forgotten: %d checks of a closed baseline, %d of a tree that was taken", len(kept.BaseChecks), len(kept.Iterations[0].Checks))
	}

	other := policy.ForPreset(policy.ByStories)
	other.Setup = []policy.Check{{Command: "make"}}
	for why, events := range map[string][]journal.Event{
		"red":       {journal.CheckEnded{Where: journal.AtBase, Name: "lint"}, journal.BaselineEnded{}, journal.Resumed{}},
		"new rules": {journal.BaselineEnded{}, journal.Resumed{Policy: &other}},
	} {
		if again := minutely(append(before, events...)...); again.Baseline != nil || again.BaseChecks != nil {
			t.Errorf("%s: what was found at the base counts still", why)
		}
	}
}

// An agent that was turned away is begun again in its place, and what it had
// used belongs to it.
func TestTriesOfOneIteration(t *testing.T) {
	busy := func(n int) journal.AgentEnded {
		return journal.AgentEnded{
			Busy: true, TookMS: int64(n), Tools: n, Chores: n, ToolErrors: n, Swept: n,
			Usage: stream.Usage{Input: int64(n)}, Cost: cost(float64(n)),
		}
	}
	began1 := journal.IterationBegan{Number: 1, Story: "US-001"}
	twice := []journal.Event{began(), began1, busy(1), journal.Paused{}, began1, busy(20)}
	run := minutely(append(twice, journal.Paused{}, began1)...)
	want := busy(21)
	if len(run.Iterations) != 1 || run.Iterations[0].Agent != nil || run.Iterations[0].Paused {
		t.Fatalf("begun again: %+v, want one iteration under way", run.Iterations)
	}
	if run.Iterations[0].Turned != 2 || !cmp.Equal(&want, run.Iterations[0].Earlier) {
		t.Errorf("turned away %d times, with %+v; want twice, with %+v", run.Iterations[0].Turned, run.Iterations[0].Earlier, want)
	}
	ended := minutely(append(twice, began1, journal.AgentEnded{Tools: 300, Cost: cost(300)})...)
	want.Busy, want.Tools, want.Cost = false, 321, cost(321)
	if diff := cmp.Diff(&want, ended.Iterations[0].Agent); diff != "" {
		t.Errorf("sum of the tries (-want +got):\n%s", diff)
	}
	if ended.Spent.CostUSD != 321 || !ended.Spent.CostKnown || ended.Iterations[0].Turned != 2 {
		t.Errorf("%v dollars, turned away %d times", ended.Spent.CostUSD, ended.Iterations[0].Turned)
	}

	resumed := minutely(append(twice, journal.Resumed{})...)
	if it := resumed.Iterations[0]; it.Turned != 0 || !it.Paused {
		t.Errorf("resumed: turned away %d times, paused %v; want it tried at once", it.Turned, it.Paused)
	}
	again := minutely(append(twice, began1, began1)...)
	if again.Iterations[0].Turned != 2 || again.Iterations[0].Earlier == nil {
		t.Errorf("cut off in its third try: turned away %d times, with %+v", again.Iterations[0].Turned, again.Iterations[0].Earlier)
	}
	cut := minutely(began(), began1, began1, journal.AgentEnded{}, journal.IterationBegan{Number: 2})
	if len(cut.Iterations) != 2 {
		t.Errorf("%d iterations, want one that was cut off and one after it", len(cut.Iterations))
	}
}
