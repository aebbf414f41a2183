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
	if start, known := run.StartProof(); known && run.Start != commit {
		refs = append(refs, reference{commit: run.Start, story: workBefore, checks: start.Checks})
	}
	return append(refs, reference{commit: run.Base, checks: run.BaseChecks})
}

// since returns which version of the tests ran.
func (r reference) since() string {
	switch r.story {
	case "":
		return ""
	case workBefore:
		return ", as they were when this run began"
	}
	return ", as they were when " + r.story + " passed"
}
