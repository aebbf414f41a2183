package proof

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// reference is a commit whose tests judge the work.
type reference struct {
	commit string
	story  string               // that it proved, or workBefore; empty for the base
	checks []journal.CheckEnded // their results there
	failed string               // why the checks failed there: not all tests may have run
}

// workBefore is what was there when a run began that builds on earlier work.
const workBefore = "the work before"

// references returns the commits whose tests judge the work, the newest first: those of proven earlier stories, those in
// which people let a story change tests, and the base. A held one is left out. Those before newer work of others are,
// too, but where not all tests could run on that.
func references(run journal.Run, commit string) []reference {
	var refs []reference
	onto, known := run.OntoProof()
	within := run.Iterations[:min(run.Onto.Iterations, len(run.Iterations))] // and in what the run builds on now
	for _, proof := range slices.Backward(run.Proofs) {
		isThere := slices.ContainsFunc(refs, func(ref reference) bool { return ref.commit == proof.Commit })
		if isThere || proof.Commit == commit || known && onto.Passed && wasProven(within, proof.Commit) {
			continue
		}
		if story, judges := judging(run, proof); judges {
			refs = append(refs, reference{commit: proof.Commit, story: story, checks: proof.Checks})
		}
	}
	if known && run.Onto.Commit != commit {
		ref := reference{commit: run.Onto.Commit, story: workBefore, checks: onto.Checks}
		if !onto.Passed { // else it is a remark
			ref.failed = onto.Why
		}
		refs = append(refs, ref)
	}
	return append(refs, reference{commit: run.Base, checks: run.BaseChecks})
}

// judging returns the story by whose proof a commit's tests judge the work, if they do.
func judging(run journal.Run, proof journal.Proof) (story string, judges bool) {
	if !proof.Passed || run.IsHeld(proof.Commit) {
		return "", false
	}
	for _, g := range slices.Backward(run.Grades) {
		if newest, _ := run.GradeOf(g.Story); g.Commit == proof.Commit && newest.Commit == g.Commit && g.Grade == journal.RedToGreen {
			return g.Story, true
		}
	}
	for _, it := range run.Iterations {
		if it.Proof != nil && it.Proof.Commit == proof.Commit {
			story = it.Story
		}
	}
	return story, slices.ContainsFunc(run.Inspections, func(e journal.ChangeInspected) bool {
		return e.Commit == proof.Commit && slices.ContainsFunc(e.Shown, isAllowed)
	})
}

// isAllowed reports whether people let a story change the tests of a place, which fail in their old versions.
func isAllowed(l journal.Loosened) bool { return l.Kind != testsChanged }

func wasProven(its []journal.Iteration, commit string) bool {
	return slices.ContainsFunc(its, func(it journal.Iteration) bool { return it.Proof != nil && it.Proof.Commit == commit })
}

// since returns which version of the tests ran.
func (r reference) since() string {
	switch r.story {
	case "":
		return ""
	case workBefore:
		return ", as they were before this run's work"
	}
	return ", as they were when " + r.story + " passed"
}
