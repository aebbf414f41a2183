package proof

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// reference is a commit whose tests judge the work.
type reference struct {
	commit string
	tests  string               // a commit of its tests: this one, with what people changed later
	story  string               // by which it passed, or workBefore; empty for the base
	checks []journal.CheckEnded // their results there
	failed string               // why the checks failed there: not all tests may have run
	people *journal.Joined      // whose change it holds, if people pushed something
	later  []journal.Joined     // what people changed after it
}

// workBefore is what was there when a run began that builds on earlier work.
const workBefore = "the work before"

// references returns the commits whose tests judge the work, the newest first: each that hid nothing when it passed, what
// people pushed on top of one, and the base. A file of tests that an agent changed judges in all of its versions.
func references(run journal.Run, commit string) (refs []reference) {
	isThere := func(commit string) bool {
		return slices.ContainsFunc(refs, func(other reference) bool { return other.commit == commit })
	}
	for i, proof := range slices.Backward(run.Proofs) {
		ref := referenceTo(run, proof)
		ref.later = slices.DeleteFunc(slices.Clone(run.Grounds), func(joined journal.Joined) bool { return joined.Onto.Proofs <= i })
		if !isThere(proof.Commit) && ref.commit != commit && (ref.story == workBefore || run.WasSound(proof)) {
			refs = append(refs, ref)
		}
	}
	for _, changes := range slices.Backward(run.Unclear()) {
		sound := changes[0].Sound
		if before, _ := run.ProofOf(changes[0].SoundTree); !isThere(sound) {
			refs = append(refs, reference{commit: sound, tests: sound, checks: before.Checks, story: workBefore, failed: whyUnknown(before), later: changes})
		}
	}
	return append(refs, reference{commit: run.Base, tests: run.Base, checks: run.BaseChecks, later: run.Grounds})
}

func referenceTo(run journal.Run, proof journal.Proof) reference {
	ref := reference{commit: proof.Commit, tests: proof.Commit, checks: proof.Checks, story: storyOf(run, proof.Commit)}
	for _, joined := range slices.Concat(run.Grounds, run.Open.Judges) {
		if joined.Onto.Tree == proof.Tree {
			ref.people = &joined
		}
	}
	if !slices.ContainsFunc(run.BuiltOn, func(onto journal.Onto) bool { return onto.Tree == proof.Tree }) {
		return ref
	}
	ref.story, ref.failed = workBefore, whyUnknown(proof)
	return ref
}

// whyUnknown returns why not all tests may have run in a proof, or "".
func whyUnknown(proof journal.Proof) string {
	if proof.TellsTests() { // and Why is a remark
		return ""
	}
	return proof.Why
}

func storyOf(run journal.Run, commit string) (story string) {
	for _, it := range run.Iterations {
		if it.Proof != nil && it.Proof.Commit == commit {
			story = it.Story
		}
	}
	for _, g := range run.Grades {
		if g.Commit == commit {
			story = g.Story
		}
	}
	return cmp.Or(story, "other work")
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
