package journal_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// A run builds on the newest commit that hides nothing, and on what others pushed on top of it.
func TestWhatIsSound(t *testing.T) {
	began := journal.RunBegan{Base: "b0", Start: "s0", Tree: "ts", OntoWork: true}
	proven := func(commit string, why string) []journal.Event {
		tree := "t" + commit
		return []journal.Event{journal.ProofEnded{Commit: commit, Tree: tree, Passed: true}, journal.ChangeInspected{Commit: commit, Tree: tree, Why: why}}
	}
	joined := journal.Joined{Of: journal.OfBranch, From: "c1", With: "d1", To: "m1", Onto: &journal.Onto{Commit: "o1", Tree: "to"}}
	for want, events := range map[string][]journal.Event{
		"b0": {journal.RunBegan{Base: "b0", Start: "b0", OntoWork: true}},
		"s0": {began},
		"o0": {journal.RunBegan{Base: "b0", Start: "s0", Tree: "ts", OntoWork: true, Grounds: []journal.Joined{{Onto: &journal.Onto{Commit: "o0", Tree: "to"}}}}},
		"c1": slices.Concat([]journal.Event{began}, proven("c1", "")),
		"c2": slices.Concat([]journal.Event{began}, proven("c2", ""), proven("c3", "a test is gone")),
		"o1": slices.Concat([]journal.Event{began}, proven("c1", ""), []journal.Event{joined}),
		"c4": slices.Concat([]journal.Event{began, joined}, proven("c4", "")),
		"b1": {journal.RunBegan{Base: "b0", Start: "b0"}, journal.Joined{Of: journal.OfBase, With: "b1", To: "m1"}},
		"g1": slices.Concat([]journal.Event{began}, proven("c1", ""), []journal.Event{journal.Signed{From: "c1", To: "g1", As: map[string]string{"c1": "g1"}}}),
	} {
		if got := minutely(events...).Sound; got != want {
			t.Errorf("sound is %q, want %q", got, want)
		}
	}
}

// A later job makes the commits again on which a new run builds.
func TestARunKeepsItsGrounds(t *testing.T) {
	ground := journal.Joined{Sound: "c1", With: "s0", Onto: &journal.Onto{Commit: "o0", Tree: "to"}}
	run := minutely(journal.RunBegan{Base: "b0", Start: "s0", Tree: "ts", OntoWork: true, Grounds: []journal.Joined{ground}})
	if len(run.Grounds) != 1 || run.Onto != *ground.Onto {
		t.Errorf("builds on %+v, by %+v", run.Onto, run.Grounds)
	}
}

// What others pushed while a story is open was there before it was done. The code before it is the newest of other work.
func TestWhatWasBeforeAStory(t *testing.T) {
	proof := func(commit string) *journal.Proof { return &journal.Proof{Commit: commit, Tree: commit, Passed: true} }
	work := &journal.CommitsTaken{From: "w0", To: "w1"}
	for met, want := range []string{"c3 without w1", "c3 without w1", "c3 without w1", "o", "o"} {
		run := journal.Run{
			Base: "b0", Onto: journal.Onto{Commit: "o", Tree: "o", Iterations: met}, Proofs: []journal.Proof{*proof("o")},
			Iterations: []journal.Iteration{{Story: "1", Proof: proof("c1")}, {Story: "2", Taken: work}, {Story: "1", Proof: proof("c3")}, {Story: "2", Proof: proof("c4")}},
		}
		earlier := ""
		for _, p := range run.EarlierProofs("2") {
			earlier += " " + p.Commit
		}
		before, own := run.Before("2")
		for _, taken := range own {
			before += " without " + taken.To
		}
		if before != want || earlier != " o c1" {
			t.Errorf("after %d iterations: before it is %s, want %s; earlier proofs are%s", met, before, want, earlier)
		}
	}
}

// What is held was not there before another story, unless a rule allows it.
func TestHeldWorkIsNotBefore(t *testing.T) {
	for rule, want := range map[policy.Tamper]string{"": "c1", policy.TamperAllow: "c1", policy.TamperReport: "b0", policy.TamperBlock: "b0"} {
		run := journal.Run{
			Base: "b0", Policy: policy.Policy{Tamper: rule}, Inspections: []journal.ChangeInspected{{Commit: "c1", Why: "a test is gone"}},
			Iterations: []journal.Iteration{{Story: "1", Proof: &journal.Proof{Commit: "c1", Passed: true}}, {Story: "2"}},
		}
		if before, _ := run.Before("2"); before != want {
			t.Errorf("%q: before it is %s, want %s", rule, before, want)
		}
		run.Proofs = []journal.Proof{{Commit: "c9", Tree: "t1"}} // the same tree once more
		run.Inspections[0].Tree = "t1"
		if held := run.IsHeld("c9"); held != (want == "b0") {
			t.Errorf("%q: another commit of the tree is held: %t", rule, held)
		}
	}
}

// An older tree is inspected again once newer tests judge.
func TestInspectionsGrowOld(t *testing.T) {
	passes := func(commit, tree, why string) []journal.Event {
		return []journal.Event{journal.ProofEnded{Commit: commit, Tree: tree, Passed: true}, journal.ChangeInspected{Commit: commit, Tree: tree, Why: why}}
	}
	began := []journal.Event{journal.RunBegan{Base: "b0", Start: "b0"}}
	for name, c := range map[string]struct {
		events []journal.Event
		known  bool
	}{
		"the newest":          {passes("c1", "t1", ""), true},
		"what is held":        {passes("c1", "t1", "a test is gone"), true},
		"the same once more":  {slices.Concat(passes("c1", "t1", ""), passes("c2", "t2", "a test is gone")), true},
		"after another story": {slices.Concat(passes("c1", "t1", ""), passes("c2", "t2", "")), false},
		"signed since":        {slices.Concat(passes("c0", "t0", ""), passes("c1", "t1", "a test is gone"), []journal.Event{journal.Signed{From: "c1", To: "g1", As: map[string]string{"c0": "g0", "c1": "g1"}}}), true},
		"after people pushed": {append(passes("c1", "t1", "a test is gone"), journal.Joined{To: "m1", Onto: &journal.Onto{Commit: "o1", Tree: "to"}}), false},
	} {
		if _, known := minutely(append(began, c.events...)...).InspectionOf("t1"); known != c.known {
			t.Errorf("%s: the inspection counts: %t", name, known)
		}
	}
}

// Where people ask for more of a story, what was done of it before is not its work any more.
func TestAStoryIsReopened(t *testing.T) {
	run := journal.Run{
		Plan: plan.Plan{UserStories: []plan.Story{{ID: "1", Passes: true}}}, Head: "w2", Tree: "tw", Sound: "c1",
		Grades:     []journal.StoryGraded{{Story: "1", Grade: journal.RedToGreen}, {Story: "2", Grade: journal.RedToGreen}},
		Proofs:     []journal.Proof{{Commit: "c1", Tree: "t1", Passed: true}},
		Iterations: []journal.Iteration{{Story: "1", Taken: &journal.CommitsTaken{From: "b0", To: "c1"}}},
	}
	for words, want := range map[string]journal.Onto{"": {}, "more": {Commit: "c1", Tree: "t1", Iterations: 1}} {
		again := journal.Fold(run, journal.Entry{Seq: 1, Event: journal.Resumed{Retry: []string{"1"}, Words: words}})
		_, graded := again.GradeOf("1")
		if done := len(again.Worked("1")) > 0; again.Onto != want || graded != (words == "") || done != (words == "") || again.Plan.Done() {
			t.Errorf("with %q: builds on %+v, graded: %t, worked: %t", words, again.Onto, graded, done)
		}
		if _, other := again.GradeOf("2"); !other {
			t.Errorf("with %q: another story lost its grade", words)
		}
	}
	run.Policy.Tamper, run.Inspections = policy.TamperReport, []journal.ChangeInspected{{Commit: "c1", Why: "a test is gone"}}
	run.Grades[0].Commit = "c1"
	held := journal.Fold(run, journal.Entry{Seq: 1, Event: journal.Resumed{Retry: []string{"1"}, Words: "put it back"}})
	if len(held.Reopened) > 0 || len(held.Worked("1")) == 0 {
		t.Error("a story that is held was not proven: its work goes on")
	}
	run.Grades = slices.Insert(run.Grades, 0, journal.StoryGraded{Story: "1", Commit: "c0", Grade: journal.RedToGreen})
	if again := journal.Fold(run, journal.Entry{Seq: 1, Event: journal.Resumed{Retry: []string{"1"}, Words: "more"}}); len(again.Reopened) == 0 {
		t.Error("a story that was proven, and held since, is not reopened")
	}
}
