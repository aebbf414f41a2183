package verdict_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

// world returns random results for each step: agents that work, lie, fail or idle,
// green and red checks, failing requests to GitHub, and kills.
type world struct {
	*rand.Rand
	run     journal.Run
	commits int
	base    map[string]journal.CheckEnded // how each check ends at the base, every time
}

func (w *world) chance(percent int) bool { return w.IntN(100) < percent }

func (w *world) append(event journal.Event) {
	at := w.run.Clock.Now.Add(time.Duration(w.IntN(60)) * time.Second)
	w.run = journal.Fold(w.run, journal.Entry{Seq: w.run.Seq + 1, At: at, Event: event})
}

func (w *world) began() journal.RunBegan {
	p := policy.ForPreset(policy.ByStories)
	p.Publish, p.SaveRun, p.Approval = w.chance(70), w.chance(50), w.chance(3)
	p.Boxed = !p.Publish && w.chance(50)
	if w.chance(30) {
		p.Review.Agent = "other"
	}
	if w.chance(30) {
		p.Baseline = policy.BaselineStrict
	}
	p.Tamper = []policy.Tamper{"", policy.TamperReport, policy.TamperBlock}[w.IntN(3)]
	p.Limits.Iterations = 1 + w.IntN(8)
	for i := range w.IntN(3) {
		p.Checks = append(p.Checks, policy.Check{Name: fmt.Sprintf("check%d", i)})
	}
	var stories []plan.Story
	for i := range 1 + w.IntN(4) {
		stories = append(stories, plan.Story{ID: fmt.Sprintf("US-%03d", i+1), Priority: w.IntN(3)})
	}
	return journal.RunBegan{Run: "r", Policy: p, Plan: plan.Plan{UserStories: stories}, Base: "c0", Start: "c0", Vague: w.chance(20)}
}

func (w *world) checks(where journal.Where, green int) {
	for _, check := range w.run.Policy.Checks {
		w.append(w.check(where, check.Name, green))
		if w.chance(3) {
			w.append(journal.Resumed{Why: "killed between checks"})
			return
		}
	}
	switch where {
	case journal.AtBase:
		w.append(journal.BaselineEnded{Usable: w.chance(80)})
	case journal.AtWork, journal.AtHead, journal.AtOldTests, journal.AtNewTests, journal.AtTrial:
	}
}

// prove adds a proof with a random result. For one story in ten, nothing changed; half of these are met already.
func (w *world) prove(s verdict.Prove) {
	w.checks(journal.AtHead, 90)
	all := []journal.Result{journal.Proven, journal.Proven, journal.Proven, journal.NoNewFailingTest, journal.Unknown, journal.NeedsReview}
	proof := journal.ProofEnded{Story: s.Story, Base: w.run.Base, Commit: s.Commit, Tree: s.Tree, Result: all[w.IntN(len(all))], Why: "why"}
	if s.Story != "" {
		proof.Base = w.run.Before(s.Story)
	}
	if !verdict.IsGreen(w.run, w.run.Proving.Head) || w.chance(10) {
		proof.Result = journal.Failed
	}
	proof.Passed = proof.Result != journal.Failed
	if proof.Idle = proof.Passed && s.Story != "" && w.chance(10); proof.Idle {
		proof.Result = journal.NoNewFailingTest
	}
	if proof.Idle && w.chance(50) {
		proof.Held = []string{"TestA"}
	}
	if proof.Result == journal.Proven && w.chance(20) {
		proof.Untested = []journal.Lines{{File: "a.go", From: 1, To: 2}}
	}
	w.append(proof)
}

func (w *world) check(where journal.Where, name string, green int) journal.CheckEnded {
	if known, is := w.base[name]; is && where == journal.AtBase {
		return known
	}
	passed := w.chance(green)
	ended := journal.CheckEnded{Where: where, Name: name, Passed: passed, CannotRun: !passed && w.chance(20), Tests: w.tests()}
	if where == journal.AtBase {
		w.base[name] = ended
	}
	return ended
}

// tests returns a random test result: none, without names, with old and new
// failures, with broken packages, or cut.
func (w *world) tests() *journal.Tests {
	if w.chance(30) {
		return nil
	}
	told := &journal.Tests{Passed: w.IntN(3), Cut: w.chance(5)}
	for _, name := range []string{"a", "b", "c"} {
		if w.chance(30) {
			told.Red = append(told.Red, name)
		}
	}
	if w.chance(10) {
		told.Broken = []string{"p"}
	}
	told.Failed = len(told.Red)
	return told
}

func (w *world) iterate(s verdict.Iterate) {
	w.append(journal.IterationBegan{Number: s.Number, Story: s.Story})
	if w.chance(5) {
		w.append(journal.Resumed{Why: "killed"})
		return
	}
	question := ""
	if w.chance(3) {
		question = "Which one?"
	}
	ended := journal.AgentEnded{Tools: w.IntN(3), Question: question, Failed: w.chance(10), Cost: stream.Cost{USD: w.Float64() / 2, Known: true}}
	if ended.Failed && w.chance(50) {
		ended.Busy = true
	}
	if ended.Busy && w.chance(50) {
		ended.Until = w.run.Clock.Now.Add(time.Duration(w.IntN(300)-50) * time.Minute)
	}
	w.append(ended)
}

func (w *world) read() {
	var claimed []string
	if it, open := w.run.OpenIteration(); open && w.chance(60) {
		claimed = append(claimed, it.Story)
	}
	w.append(journal.PlanRead{Plan: w.run.Plan, Claimed: claimed})
}

func (w *world) take(s verdict.TakeCommits) {
	taken := journal.CommitsTaken{From: w.run.Head, To: w.run.Head, Tree: "t" + w.run.Head, Dirty: w.chance(20), Swept: s.Leftovers}
	if w.chance(70) {
		w.commits++
		taken.To = fmt.Sprintf("c%d", w.commits)
		taken.Tree = "t" + taken.To
	}
	taken.Work = taken.Tree
	w.append(taken)
}

func (w *world) review(s verdict.Review) {
	reviewed := journal.StoryReviewed{Story: s.Story, Commit: s.Commit, By: "other"}
	if w.chance(30) {
		reviewed.Missed = []journal.Missed{{Criterion: 1, Why: "no"}}
	}
	w.append(reviewed)
}

// draft adds the plan that an agent makes of a vague task.
func (w *world) draft() {
	drafted := journal.PlanDrafted{By: "agent"}
	switch w.IntN(3) {
	case 0:
		drafted.Stories = []plan.Story{{ID: "US-007", Priority: 1}}
	case 1:
		drafted.Question = "Which one?"
	default:
		drafted.Why = "no JSON"
	}
	w.append(drafted)
}

func (w *world) publish(done journal.Event, act string) {
	if w.chance(30) {
		done = journal.PublishFailed{Act: act, Head: w.run.Head, Why: "502"}
	}
	w.append(done)
}

// merged returns the result of a merge with other people's commits: nothing new,
// a merge commit, or a conflict.
func (w *world) merged() journal.Event {
	e := journal.Joined{Of: []journal.Line{journal.OfBase, journal.OfBranch}[w.IntN(2)], From: w.run.Head, To: w.run.Head, Tree: w.run.Tree, With: w.run.Base}
	switch {
	case w.chance(30):
		w.commits++
		e.To, e.With = fmt.Sprintf("c%d", w.commits), fmt.Sprintf("theirs%d", w.commits)
		e.Tree = "t" + e.To
	case w.chance(20):
		e.Conflicts = []string{"a.txt"}
	case e.Of == journal.OfBranch:
		return journal.Branched{From: w.run.Branch, To: w.run.Branch + "-2"}
	}
	return e
}

// do adds the result of a step. It returns false once the run has ended.
func (w *world) do(step verdict.Step) bool {
	switch s := step.(type) {
	case verdict.DraftPlan:
		w.draft()
	case verdict.Baseline:
		w.checks(journal.AtBase, 80)
		if len(w.run.Policy.Checks) == 0 {
			break
		}
	case verdict.Iterate:
		w.iterate(s)
	case verdict.ReadPlan:
		w.read()
	case verdict.Check:
		w.checks(journal.AtWork, 70)
	case verdict.TakeCommits:
		w.take(s)
	case verdict.Prove:
		w.prove(s)
	case verdict.Review:
		w.review(s)
	case verdict.Judge:
		w.append(s.Verdict)
	case verdict.RunSCMTask:
		w.append(journal.SCMEnded{Task: s.Task, Failed: w.chance(20)})
	case verdict.Push:
		w.publish(journal.Pushed{SHA: s.SHA}, "push")
	case verdict.OpenPull:
		w.publish(journal.PullOpened{Number: 1, Draft: true}, "open")
	case verdict.MergeRemote:
		w.publish(w.merged(), "join")
	case verdict.MarkPullReady:
		w.publish(journal.PullReadied{Number: 1}, "ready")
	case verdict.ReadTaskFolder:
		w.append(w.looked())
	case verdict.Pause:
		w.append(journal.Paused{MS: s.For.Milliseconds(), Why: s.Why})
	case verdict.SaveRun:
		w.publish(journal.Shelved{Ended: w.run.JudgedIterations()}, "shelve")
	case verdict.Deliver:
		w.append(journal.Delivered{Iteration: w.run.JudgedIterations(), Head: w.run.Head})
	case verdict.AnnounceEnd:
		w.append(journal.TaskSettled{Reason: s.Reason, Words: s.Words})
	case verdict.Stop:
		w.append(s.Stopped)
	case verdict.NoStep:
		return false
	}
	return true
}

// Every run ends. It is complete only if every story passed, the newest tree is
// proven, and the work is published.
func TestEveryRunEndsHonestly(t *testing.T) {
	for seed := range uint64(3000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), base: map[string]journal.CheckEnded{}}
		w.append(w.began())
		for steps := 0; w.do(verdict.Next(w.run)); steps++ {
			if steps > 2000 {
				t.Fatalf("seed %d: still going after %d steps, next %T", seed, steps, verdict.Next(w.run))
			}
			if w.run.Stop == nil && w.chance(1) {
				w.append(journal.CancelAsked{Why: "SIGINT"})
			}
		}
		if w.run.Stop.Reason == policy.AllStoriesPassed {
			checkComplete(t, seed, w.run)
		}
		for _, story := range w.run.Plan.UserStories {
			proof, _ := w.run.StoryProof(story.ID)
			if story.Passes && proof.Idle && len(proof.Held) == 0 {
				t.Errorf("seed %d: %s passes without a change and without a test", seed, story.ID)
			}
		}
	}
}

func checkComplete(t *testing.T, seed uint64, run journal.Run) {
	t.Helper()
	proof, found := run.WholeProof()
	switch {
	case !run.Plan.Done():
		t.Errorf("seed %d: complete with %d of %d stories", seed, run.PassedStories(), len(run.Plan.UserStories))
	case !found || !proof.Passed:
		t.Errorf("seed %d: complete though %s was not proven", seed, run.Head)
	case run.Published.Pull != nil && !run.Published.Pull.Draft && run.Merging.Parted != nil:
		t.Errorf("seed %d: ready with a merge conflict", seed)
	case run.Published.Pull != nil && !run.Published.Pull.Draft && whyNotReady(run) != "":
		t.Errorf("seed %d: ready though %s", seed, whyNotReady(run))
	case run.Policy.Boxed && run.PassedStories() > 0 && run.Head != run.Start && (run.Box.Delivered == nil || run.Box.Delivered.Head != run.Head):
		t.Errorf("seed %d: complete though %s was not delivered", seed, run.Head)
	case run.Policy.Tamper == policy.TamperBlock && proof.Result == journal.NeedsReview:
		t.Errorf("seed %d: complete though a person has to look at %s", seed, run.Head)
	case run.Policy.Publish && !verdict.IsUnchanged(run) && (run.Published.Pushed != run.Head || run.Published.Pull == nil):
		t.Errorf("seed %d: complete though nothing was published", seed)
	}
}

// whyNotReady returns, from the proofs alone, why a pull request may not be ready.
func whyNotReady(run journal.Run) string {
	whole := journal.Proof{}
	for _, proof := range run.Proofs {
		if proof.Story == "" {
			whole = proof
		}
	}
	switch {
	case whole.Tree != run.Tree || whole.Base != run.Base:
		return "the whole change is not proven"
	case whole.Result != journal.Proven && whole.Result != journal.NoNewFailingTest: // each story has a proof of its own
		return "the proof of the whole change is " + whole.Result.Text()
	}
	for _, story := range run.Plan.UserStories {
		result := journal.Unknown
		for _, proof := range run.Proofs {
			if proof.Story == story.ID {
				result = proof.Result
			}
		}
		if result != journal.Proven {
			return story.ID + " is not proven"
		}
	}
	return ""
}

// Next returns a step for any journal: here, for events of the goldens in any order.
func FuzzNextIsTotal(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	var events []journal.Event
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, entry := range journaltest.Entries(f, archive.Files[0].Data) {
			events = append(events, entry.Event)
		}
	}
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 3))}
		for range 50 {
			w.append(events[w.IntN(len(events))])
			if verdict.Next(w.run) == nil {
				t.Fatalf("seed %d: no step after event %d", seed, w.run.Seq)
			}
		}
	})
}
