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
}

// workBefore is what was there when a run began that builds on earlier work.
const workBefore = "the work before"

// references returns the commits whose tests judge the work, the newest first: those
// of proven earlier stories, and the base. A story whose change of tests waits for a
// person is left out.
func references(run journal.Run, commit string) []reference {
	var refs []reference
	for _, g := range slices.Backward(run.Grades) {
		newest, _ := run.GradeOf(g.Story)
		if g.Grade != journal.RedToGreen || g.Commit != newest.Commit || g.Commit == commit {
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
	if onto, known := run.OntoProof(); known && run.Onto.Commit != commit {
		refs = append(refs, reference{commit: run.Onto.Commit, story: workBefore, checks: onto.Checks})
	}
	return append(refs, reference{commit: run.Base, checks: run.BaseChecks})
}

// unknownTests holds a commit back if the checks failed in what its run builds on: not all tests may have run there.
func unknownTests(run journal.Run) []journal.Loosened {
	if onto, known := run.OntoProof(); known && !onto.Passed {
		return []journal.Loosened{{File: "checks", Kind: testsGone, Why: "which tests existed is not known, as the checks failed before this run's work: " + onto.Why}}
	}
	return nil
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
