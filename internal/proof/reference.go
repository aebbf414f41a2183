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

// references returns the commits whose tests judge the work, the newest first: those
// of proven earlier stories, and the base. A story whose change of tests waits for a
// person is left out.
func references(run journal.Run, commit string) []reference {
	var refs []reference
	onto, known := run.OntoProof()
	within := run.Iterations[:min(run.Onto.Iterations, len(run.Iterations))] // and in what the run builds on now
	for _, g := range slices.Backward(run.Grades) {
		newest, _ := run.GradeOf(g.Story)
		if g.Grade != journal.RedToGreen || g.Commit != newest.Commit || g.Commit == commit || known && wasProven(within, g.Commit) {
			continue
		}
		for _, proof := range run.Proofs {
			inspected, _ := run.InspectionOf(proof.Tree)
			if proof.Commit == g.Commit && proof.Passed && len(inspected.Found) == 0 {
				refs = append(refs, reference{commit: g.Commit, story: g.Story, checks: proof.Checks})
				break
			}
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
