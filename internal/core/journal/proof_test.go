package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// A proof has its own checks, and one that reuses another has those of the same commits.
func TestChecksOfAProof(t *testing.T) {
	check := func(name string) journal.CheckEnded { return journal.CheckEnded{Where: journal.AtHead, Name: name} }
	run := minutely(
		began(), journal.SetupEnded{Where: journal.AtBase}, check("a"), journal.ProofEnded{Story: "US-001", Base: "b0", Tree: "t1"},
		check("b"), journal.ProofEnded{Story: "US-002", Base: "c1", Tree: "t1"}, journal.ProofEnded{Base: "b0", Tree: "t1", Reused: true},
		check("c"), journal.ProofEnded{Base: "b0", Tree: "t2", Reused: true},
	)
	var names []string
	for _, proof := range run.Proofs {
		names = append(names, proof.Checks.Head[0].Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "c"}, names); diff != "" {
		t.Errorf("checks of the proofs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(journal.Runs{}, run.Proving); diff != "" {
		t.Errorf("an unfinished proof, though all ended (-want +got):\n%s", diff)
	}
}

// The whole change is proven by a proof of the newest tree against the base.
func TestWholeProof(t *testing.T) {
	taken := journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1"}
	for name, c := range map[string]struct {
		events []journal.Event
		found  bool
	}{
		"of the newest tree":      {[]journal.Event{taken, journal.ProofEnded{Base: "b0", Tree: "t1"}}, true},
		"of a story only":         {[]journal.Event{taken, journal.ProofEnded{Story: "US-001", Base: "b0", Tree: "t1"}}, false},
		"of an earlier tree":      {[]journal.Event{journal.ProofEnded{Base: "b0", Tree: "t0"}, taken}, false},
		"against another base":    {[]journal.Event{taken, journal.ProofEnded{Base: "a0", Tree: "t1"}}, false},
		"the base was merged now": {[]journal.Event{taken, journal.ProofEnded{Base: "b0", Tree: "t1"}, journal.Joined{Of: journal.OfBase, From: "c1", With: "b1", To: "m1", Tree: "t1"}}, false},
	} {
		run := minutely(append([]journal.Event{began()}, c.events...)...)
		if _, found := run.WholeProof(); found != c.found {
			t.Errorf("%s: found %v, want %v", name, found, c.found)
		}
	}
}

// The newest proof of a story or a tree counts.
func TestNewestProof(t *testing.T) {
	run := minutely(began(),
		journal.ProofEnded{Story: "US-001", Tree: "t1", Why: "old"}, journal.ProofEnded{Story: "US-001", Tree: "t1", Why: "new"},
		journal.ProofEnded{Story: "US-002", Tree: "t2"}, journal.ProofEnded{})
	if proof, found := run.StoryProof("US-001"); !found || proof.Why != "new" {
		t.Errorf("StoryProof(US-001) = %+v, %v, want the newest", proof, found)
	}
	if proof, found := run.ProofOf("t1"); !found || proof.Why != "new" {
		t.Errorf("ProofOf(t1) = %+v, %v, want the newest", proof, found)
	}
	for _, name := range []string{"", "other"} {
		_, ofStory := run.StoryProof(name)
		_, ofTree := run.ProofOf(name)
		if ofStory || ofTree {
			t.Errorf("%q: a proof of the story %v, of the tree %v", name, ofStory, ofTree)
		}
	}
}

// A story is compared with the head before its first iteration, since people asked for it.
func TestBefore(t *testing.T) {
	work := func(number int, story, from, to string) []journal.Event {
		return []journal.Event{
			journal.IterationBegan{Number: number, Story: story},
			journal.CommitsTaken{From: from, To: to, Tree: "t" + to},
			journal.IterationEnded{Number: number, Story: story},
		}
	}
	one, two, again := work(1, "US-001", "b0", "c1"), work(2, "US-002", "c1", "c2"), work(3, "US-001", "c2", "c3")
	merged := journal.Joined{Of: journal.OfBase, From: "c2", With: "b1", To: "m1", Tree: "tm"}
	for name, c := range map[string]struct {
		events []journal.Event
		story  string
		want   string
	}{
		"nothing was done":              {nil, "US-001", "b0"},
		"the first story":               {one, "US-001", "b0"},
		"the second":                    {append(one[:3:3], two...), "US-002", "c1"},
		"work in between is part of it": {append(append(one[:3:3], two...), again...), "US-001", "b0"},
		"people asked for more":         {append(append(append(one[:3:3], two...), journal.Resumed{Retry: []string{"US-001"}, Words: "more"}), again...), "US-001", "c2"},
		"people asked again, wordless":  {append(append(append(one[:3:3], two...), journal.Resumed{Retry: []string{"US-001"}}), again...), "US-001", "b0"},
		"the base was merged since":     {append(append(one[:3:3], two...), merged), "US-002", "b1"},
	} {
		run := minutely(append([]journal.Event{began()}, c.events...)...)
		if got := run.Before(c.story); got != c.want {
			t.Errorf("%s: before %s is %s, want %s", name, c.story, got, c.want)
		}
	}
	if got := (journal.Run{Base: "b0", Merging: journal.Merging{MergeStory: "US-009"}, Iterations: []journal.Iteration{{Story: "US-009", Taken: &journal.CommitsTaken{From: "c1"}}}}).Before("US-009"); got != "b0" {
		t.Errorf("before a merge of the base is %s, want the base", got)
	}
}

func TestProvingTests(t *testing.T) {
	for name, c := range map[string]struct {
		proof journal.Proof
		want  []string
	}{
		"tests":      {journal.Proof{Result: journal.Proven, Tests: []string{"TestA"}, Files: []string{"a_test.go"}}, []string{"TestA"}},
		"files":      {journal.Proof{Result: journal.Proven, Files: []string{"a_test.sh"}}, []string{"a_test.sh"}},
		"not proven": {journal.Proof{Result: journal.NeedsReview, Tests: []string{"TestA"}}, nil},
	} {
		if diff := cmp.Diff(c.want, c.proof.ProvingTests()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTextOfAProof(t *testing.T) {
	for want, got := range map[string]string{
		"Proven":                   journal.Proven.Text(),
		"Failed":                   journal.Failed.Text(),
		"Unknown":                  journal.Result("").Text(),
		"a.go:3":                   journal.Lines{File: "a.go", From: 3, To: 3}.String(),
		"a.go:3-5":                 journal.Lines{File: "a.go", From: 3, To: 5}.String(),
		"1600 lines are changed":   journal.Look{Kind: "large", Why: "1600 lines are changed"}.String(),
		"a_test.go: it is skipped": journal.Look{Kind: "skipped", File: "a_test.go", Why: "it is skipped"}.String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A check that ran twice counts twice.
func TestRunsOfChecks(t *testing.T) {
	var runs journal.CheckRuns
	runs.Add(journal.CheckEnded{TookMS: 5})
	runs.Add(journal.CheckEnded{TookMS: 7, First: &journal.Try{TookMS: 11}})
	if want := (journal.CheckRuns{Runs: 3, TookMS: 23}); runs != want {
		t.Errorf("%+v, want %+v", runs, want)
	}
}
