// Package proof decides whether a change is proven: it runs the checks on clean checkouts, with the tests swapped both
// ways, and applies two rules. Nothing that worked breaks: the checks pass with the change, and so do the base's tests
// on the new code. The new tests need the change: they fail on the base's code. What else matters is listed for a
// person. Package checkout makes the checkouts; verdict decides what follows.
package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Prover gets a clean checkout, sets it up and runs the checks in it.
type Prover struct {
	// Run runs setup, and the checks if that succeeds.
	Run func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) (Outcome, error)
	// Change returns what differs between two commits, and the commits to check out for a proof.
	Change func(ctx context.Context, run journal.Run, base, head string) (Change, error)
	// Results returns the tests that a check reported by name.
	Results func(check journal.CheckEnded) (results.Results, error)
	// Call finds the runner of a check's command.
	Call func(ctx context.Context, run journal.Run, command string) (suite.Call, error)
	// Text returns a file of a commit; nil: there is none.
	Text func(ctx context.Context, commit, name string) ([]byte, error)
	// With returns a commit with some files replaced.
	With func(ctx context.Context, commit string, texts map[string][]byte) (string, error)
	// Baselines are kept for later runs. May be nil.
	Baselines Baselines
}

// Outcome is the result of a run of the checks.
type Outcome struct {
	Unready string // why setup failed, if it did
	Checks  []journal.CheckEnded
}

// Place is where checks run.
type Place struct {
	Where      journal.Where
	Commit     string // what is proven
	Checkout   string // the commit that is checked out
	AfterSetup string // the commit that is checked out after setup; empty: Checkout stays
	// Files are the only test files that a check runs, by its name. If a check has none, it runs all.
	Files  map[string][]string
	Only   func(check string) bool // reports whether a check runs; nil: all do
	Second bool                    // the checks run once more
	Same   bool                    // in the checkout of the run before, unless setup has to run again
	Number int                     // for the names of logs: unique for a kind of place and a commit
}

// Skips reports whether a check is limited to paths, and the change touches none of them.
func Skips(check policy.Check, changed []string) bool {
	for glob := range strings.FieldsSeq(check.Paths) {
		for _, name := range changed {
			if touched, err := doublestar.Match(glob, name); touched || err != nil {
				return false
			}
		}
	}
	return check.Paths != ""
}

// Prove proves a commit: for a story against the head before it, or as a whole against the base.
func (p Prover) Prove(ctx context.Context, run journal.Run, step verdict.Prove, emit func(journal.Event)) error {
	proof := journal.Proof{Story: step.Story, Base: run.Base, Commit: step.Commit, Tree: step.Tree}
	if step.Story != "" {
		proof.Base = run.Before(step.Story)
	}
	if same, found := sameProof(run, proof); found {
		same.Story = step.Story
		same.Commit = step.Commit
		same.Reused = true
		emit(journal.ProofEnded(same))
		return nil
	}
	t := &trial{Prover: p, run: run, proof: proof, emit: emit}
	if err := t.prove(ctx); err != nil {
		return fmt.Errorf("prove %.12s: %w", step.Commit, err)
	}
	emit(journal.ProofEnded(t.proof))
	return nil
}

// sameProof returns a proof of a story that shows the whole change, too: it has the same commits and permissions.
func sameProof(run journal.Run, whole journal.Proof) (journal.Proof, bool) {
	if whole.Story != "" {
		return journal.Proof{}, false
	}
	for _, earlier := range slices.Backward(run.Proofs) {
		if earlier.Idle || earlier.Base != whole.Base || earlier.Tree != whole.Tree {
			continue
		}
		newest, found := run.ProofOf(earlier.Tree)
		if !found || newest.Base != earlier.Base {
			continue
		}
		if verdict.MayChangeTests(run, earlier.Story) == verdict.MayChangeTests(run, "") {
			return earlier, true
		}
	}
	return journal.Proof{}, false
}

// trial is a proof under way.
type trial struct {
	Prover

	run    journal.Run
	proof  journal.Proof
	change Change
	emit   func(journal.Event)

	baseChecks    []journal.CheckEnded // results at the base
	headChecks    []journal.CheckEnded // results with the change
	oldTestChecks []journal.CheckEnded // results of the base's tests on the new code
	newTestChecks []journal.CheckEnded // results of the change's tests on the base code

	testChecks []string // the checks that run tests
	unusable   string   // why no check of the base can be compared; empty: one can
	headPasses bool     // the checks pass with the change
}

func (t *trial) prove(ctx context.Context) error {
	if err := t.findResult(ctx); err != nil {
		return err
	}
	return t.findUntested(ctx)
}

func (t *trial) findResult(ctx context.Context) error {
	if err := t.findChange(ctx); err != nil {
		return err
	}
	if err := t.runBase(ctx); err != nil {
		return err
	}
	if len(t.change.Files) == 0 {
		return t.endUnchanged()
	}
	if t.proof.Result != "" {
		return nil
	}
	if err := t.runHead(ctx); err != nil || t.proof.Result != "" {
		return err
	}
	if t.unusable != "" {
		t.end(journal.Unknown, t.unusable)
		return nil
	}
	t.addLooks()
	if t.change.only(Document) {
		t.end(journal.DocumentsOnly, "only documents are changed")
		return nil
	}
	if err := t.runOldTests(ctx); err != nil || t.proof.Result != "" {
		return err
	}
	if err := t.findVanished(); err != nil || t.proof.Result != "" {
		return err
	}
	if why := t.change.concern(); why != "" {
		t.end(journal.NeedsReview, why)
		return nil
	}
	if t.change.only(Test, Support) {
		t.lookAtTests()
		t.end(journal.TestsOnly, "only tests are changed")
		return nil
	}
	return t.runNewTests(ctx)
}

// end sets the result.
func (t *trial) end(result journal.Result, why string) {
	t.proof.Result = result
	t.proof.Why = why
	t.proof.Passed = result != journal.Failed
}

// findChange finds what the story changed. If this run changed nothing, the story is proven by the whole change.
func (t *trial) findChange(ctx context.Context) error {
	var err error
	t.change, err = t.Change(ctx, t.run, t.proof.Base, t.proof.Commit)
	if err != nil {
		return err
	}
	if len(t.change.Files) > 0 || t.proof.Base == t.run.Base {
		return nil
	}
	if t.run.Head != t.run.Start { // this run changed something
		return nil
	}
	t.proof.Base = t.run.Base
	t.change, err = t.Change(ctx, t.run, t.proof.Base, t.proof.Commit)
	return err
}

// endUnchanged ends the proof of a story for which nothing changed: tests that the agent names may show that it is met
// already.
func (t *trial) endUnchanged() error {
	usable := t.proof.Result == "" && t.unusable == ""
	story, _ := t.run.Plan.Find(t.proof.Story)
	t.proof.Idle = true
	t.end(journal.NoNewFailingTest, "nothing was changed for it")
	if !usable {
		return nil
	}
	var passed []string
	for _, check := range t.baseChecks {
		reported, err := t.Results(check)
		if err != nil {
			return err
		}
		passed = append(passed, reported.Names(results.Passed)...)
	}
	var found []string
	for i := range story.AcceptanceCriteria {
		if i >= len(story.TestedBy) {
			return nil
		}
		test := verdict.FindTest(passed, story.TestedBy[i])
		if test == "" {
			return nil
		}
		found = append(found, test)
	}
	t.proof.Held = found
	return nil
}

// addLooks adds the places for a person.
func (t *trial) addLooks() {
	for _, place := range t.change.Look {
		t.addLook(place)
	}
	if t.change.only(Test, Support) {
		return
	}
	if t.change.Lines > largeChange {
		t.addLook(journal.Look{Kind: "large", Why: fmt.Sprintf("%d lines are changed", t.change.Lines)})
	}
}

const (
	largeChange = 1500 // lines
	mostLooks   = 50
	mostFiles   = 100
	mostNames   = 200
)

func (t *trial) addLook(place journal.Look) {
	place.Tests = first(mostNames, place.Tests)
	if len(t.proof.Look) < mostLooks {
		t.proof.Look = append(t.proof.Look, place)
	}
}

// lookAtTests adds existing tests of which lines are changed or removed, where only tests are changed.
func (t *trial) lookAtTests() {
	for _, file := range t.change.Files {
		if file.Kind == Test && file.Removes {
			t.addLook(journal.Look{
				Kind: "existing_test",
				File: file.Path,
				Why:  "lines of an existing test are changed or removed",
			})
		}
	}
}

func first(most int, names []string) []string { return names[:min(len(names), most)] }
