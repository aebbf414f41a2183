package journal_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
)

func same(one, other journal.CommitsTaken) bool { return one.From == other.From && one.To == other.To }

// What an earlier run left open is of the item that it was made for, and shows nothing of what people ask for besides.
func TestWhatOpenWorkShows(t *testing.T) {
	stories := plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "It greets"}, {ID: "US-002", Title: "It pays"}}}
	started, onto := journal.Proof{Commit: "s0", Tree: "ts", Passed: true}, journal.Proof{Commit: "o0", Tree: "to", Passed: true}
	red := started
	red.Passed = false
	named := red
	named.Checks = []journal.CheckEnded{{Tests: &journal.Tests{Red: []string{"pay"}}}}
	meaning := plan.Task{}.Meaning(plan.Story{}, stories)
	pays, greets := journal.OpenStory{Title: "It pays", Meaning: meaning}, journal.OpenStory{Title: "It greets", Meaning: meaning}
	work := []journal.StoryWork{{Title: "It greets", From: "b0", To: "g0"}, {Title: "It pays", From: "g0", To: "p0"}}
	edited := pays
	edited.Meaning = "another"
	for name, c := range map[string]struct {
		story, added string
		open         []journal.OpenStory
		started      []journal.Proof // of where the run begins, if people ask for more
		shown        bool
		earlier      int // proofs by which a test shows nothing
		before, own  string
	}{
		"its item":               {"US-002", "", []journal.OpenStory{pays}, nil, true, 1, "c1", "p0"},
		"another one":            {"US-001", "", []journal.OpenStory{pays}, nil, false, 1, "s0", ""},
		"one of two":             {"US-002", "", []journal.OpenStory{greets, pays}, nil, true, 1, "c1", "p0"},
		"people ask besides":     {"US-002", "", []journal.OpenStory{pays}, []journal.Proof{started}, true, 1, "c1", "p0"},
		"for another one":        {"US-001", "", []journal.OpenStory{pays}, []journal.Proof{started}, false, 2, "s0", ""},
		"red by a test":          {"US-001", "", []journal.OpenStory{pays}, []journal.Proof{named}, false, 2, "s0", ""},
		"edited":                 {"US-002", "", []journal.OpenStory{edited}, []journal.Proof{started}, false, 3, "c1", "p0"},
		"it passed, and more":    {"US-002", "bow", []journal.OpenStory{pays}, []journal.Proof{started}, false, 3, "c1", "p0"},
		"it was red by a test":   {"US-002", "bow", []journal.OpenStory{pays}, []journal.Proof{named}, true, 2, "c1", "p0"},
		"red for another reason": {"US-002", "bow", []journal.OpenStory{pays}, []journal.Proof{red}, false, 3, "c1", "p0"},
	} {
		proof := journal.Proof{Commit: "c1", Tree: "t1", Passed: true}
		run := journal.Run{
			Plan: stories, Base: "b0", Start: "s0", Proofs: append(c.started, onto, proof), Onto: journal.Onto{Commit: "o0", Tree: "to"},
			Open:       journal.OpenWork{Since: "b0", Stories: c.open, Work: work[2-len(c.open):], Tree: "ts"},
			Iterations: []journal.Iteration{{Story: "US-001", Proof: &proof}, {Story: "US-002"}},
		}
		run.Task.Added = c.added
		before, own := run.Before(c.story)
		got := ""
		for _, work := range own {
			got += work.To
		}
		if shown, earlier := run.IsShownByOpenWork(c.story), len(run.EarlierProofs(c.story)); shown != c.shown || earlier != c.earlier || before != c.before || got != c.own {
			t.Errorf("%s: shown: %t, %d earlier proofs, before it %s without %s", name, shown, earlier, before, got)
		}
	}
	alone := journal.Run{Plan: stories, Start: "s0", Grounds: []journal.Joined{{From: "x", With: "y"}, {From: "p0", With: "s0"}}}
	alone.Open = journal.OpenWork{Stories: []journal.OpenStory{pays}, Work: work[1:]}
	two := alone
	two.Open = journal.OpenWork{Stories: []journal.OpenStory{greets, pays}, Work: work}
	own, pushed := journal.CommitsTaken{From: "g0", To: "p0"}, journal.CommitsTaken{From: "p0", To: "s0"}
	if got := alone.OpenSpans("US-002"); !slices.EqualFunc(got, []journal.CommitsTaken{own, pushed}, same) || len(two.OpenSpans("US-002")) != 1 || len(alone.OpenSpans("US-001")) > 0 {
		t.Errorf("open alone: %+v, beside another: %+v", got, two.OpenSpans("US-002"))
	}
	if before, without := two.Before("US-002"); before != "s0" || !slices.EqualFunc(without, []journal.CommitsTaken{own}, same) {
		t.Errorf("open beside another: before it %s without %+v", before, without)
	}
	run := journal.Run{Plan: stories, Open: journal.OpenWork{Proved: []journal.Proven{{Request: "It greets", Tests: []string{"greet"}}}}}
	if run.ProvesAnother("US-001", "greet") || !run.ProvesAnother("US-002", "greet") || run.ProvesAnother("US-002", "pay") {
		t.Error("a test that proved a story counts for another one, or not for its own")
	}
}

// If a comment asks for more, what proved a story before does not show the new work on it.
func TestWhatProvedAStoryBefore(t *testing.T) {
	run := journal.Run{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "It greets"}}}}
	run.Earlier = []journal.Proven{{Request: run.Request(run.Plan.UserStories[0]), Tests: []string{"greet"}}}
	for _, c := range []struct {
		added string
		it    journal.Iteration
		want  []string
	}{
		{"", journal.Iteration{Story: "US-001", Taken: &journal.CommitsTaken{From: "a", To: "b"}}, []string{"greet"}},
		{"and bow", journal.Iteration{Story: "US-001", Taken: &journal.CommitsTaken{From: "a", To: "b"}}, nil},
		{"and bow", journal.Iteration{Story: "US-001", Taken: &journal.CommitsTaken{From: "a", To: "a"}}, []string{"greet"}},
		{"and bow", journal.Iteration{Story: "US-001", Taken: &journal.CommitsTaken{From: "a", To: "b"}, Idle: true}, []string{"greet"}},
		{"and bow", journal.Iteration{Story: "US-002", Taken: &journal.CommitsTaken{From: "a", To: "b"}}, []string{"greet"}},
	} {
		run.Task.Added, run.Iterations = c.added, []journal.Iteration{c.it}
		if got := run.ProvedBefore("US-001"); !slices.Equal(got, c.want) {
			t.Errorf("%q, %+v: proved before by %q, want %q", c.added, c.it, got, c.want)
		}
	}
}

// What a run builds on is known later, also where people changed it, and how many proofs there were before.
func TestWhatARunBuiltOn(t *testing.T) {
	first, then := journal.Onto{Commit: "o0", Tree: "t0"}, journal.Onto{Commit: "o1", Tree: "t1"}
	run := journal.Fold(journal.Run{}, journal.Entry{Event: journal.RunBegan{
		Base: "b0", Start: "s0", OntoWork: true, Open: journal.OpenWork{Since: "p0"}, Grounds: []journal.Joined{{Onto: &first}},
	}}, journal.Entry{Event: journal.ProofEnded{Commit: "o0", Tree: "t0"}}, journal.Entry{Event: journal.Joined{Of: journal.OfBranch, Onto: &then}})
	then.Proofs = 1
	if diff := cmp.Diff([]journal.Onto{first, then}, run.BuiltOn); diff != "" || run.Open.Since != "p0" || run.Onto != then || run.Grounds[1].Onto.Proofs != 1 {
		t.Errorf("on %+v, open since %q (-want +got):\n%s", run.Onto, run.Open.Since, diff)
	}
}

// People's permission holds for later runs, but not where a person still has to look.
func TestTestsAllowed(t *testing.T) {
	allowed := journal.Loosened{File: "a", Tests: []string{"one", "two"}}
	run := journal.Run{Allowed: []string{"two", "zero"}, Inspections: []journal.ChangeInspected{
		{Shown: []journal.Loosened{allowed}},
		{Shown: []journal.Loosened{{File: "b", Tests: []string{"held"}}}, Found: []journal.Loosened{{File: "c"}}},
	}}
	if got := run.TestsAllowed(); !slices.Equal(got, []string{"one", "two", "zero"}) {
		t.Errorf("allowed are %q", got)
	}
}

// What earlier runs proved judges without what people changed since only if the checks do not tell which tests pass with it.
func TestUnclearChanges(t *testing.T) {
	named := journal.CheckEnded{Tests: &journal.Tests{Failed: 1, Red: []string{"pay"}}}
	broken := named
	broken.Tests = &journal.Tests{Failed: 1, Red: []string{"pay"}, Broken: []string{"shop"}}
	for name, c := range map[string]struct {
		proof journal.Proof
		tree  string
		want  int
	}{
		"it passes":                    {proof: journal.Proof{Tree: "to", Passed: true}, tree: "tp"},
		"it fails by name":             {proof: journal.Proof{Tree: "to", Checks: []journal.CheckEnded{named}}, tree: "tp"},
		"it fails without names":       {proof: journal.Proof{Tree: "to", Checks: []journal.CheckEnded{{}}}, tree: "tp", want: 2},
		"it does not build":            {proof: journal.Proof{Tree: "to", Checks: []journal.CheckEnded{broken}}, tree: "tp", want: 2},
		"it did not run yet":           {tree: "tp"},
		"this run has the earlier one": {proof: journal.Proof{Tree: "to", Checks: []journal.CheckEnded{{}}}},
	} {
		ground := journal.Joined{Sound: "p0", SoundTree: c.tree, Onto: &journal.Onto{Tree: "to"}}
		base := ground
		base.Sound = "b0"
		run := journal.Run{Base: "b0", Proofs: []journal.Proof{c.proof}, Grounds: []journal.Joined{base, ground}, Open: journal.OpenWork{Judges: []journal.Joined{ground}}}
		if got := run.Unclear(); len(got) != c.want {
			t.Errorf("%s: %d unclear changes, want %d", name, len(got), c.want)
		}
	}
}
