package proof

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// People may change tests, and let a story change some.

// changedByPeople returns the files that people changed on what was proven before a reference.
func (j *judgement) changedByPeople() (map[string]bool, error) {
	theirs := map[string]bool{}
	if j.ref.people == nil {
		return theirs, nil
	}
	differing, err := j.prover.Changes.Differing(j.ctx, j.run, j.ref.people.Sound, j.ref.commit)
	if err != nil {
		return nil, fmt.Errorf("look for what people changed on %.12s: %w", j.ref.people.Sound, err)
	}
	for _, d := range differing {
		theirs[d.Path] = true
	}
	return theirs, nil
}

// join runs the tests of a reference with what people changed later, without the agent's later work: people may have renamed
// or removed some. It reports whether they build there: what people changed may need that work. Tests that a change does
// not affect run only if some are missing.
func (j *judgement) join(number int, unaffected bool) (builds bool, err error) {
	if j.ref.tests == j.ref.commit || unaffected && !j.misses(j.ref) {
		return true, nil
	}
	stand, _, err := j.prover.restore(j.ctx, j.run, j.ref.tests)
	if err != nil {
		return false, err
	}
	at := Place{Where: journal.AtDoubt, Commit: j.ref.tests, Stand: stand, Number: number + tryJoined}
	seen, err := j.prover.run(j.ctx, j.run, at, j.ran.Add)
	j.joined = seen.checks
	return seen.unready == "" && !slices.ContainsFunc(seen.checks, func(check journal.CheckEnded) bool {
		return check.TimedOut || check.CannotRun || buildFails(check, j.ref.checks)
	}), err
}

// buildFails reports whether a check fails to build which did not among others.
func buildFails(old journal.CheckEnded, others []journal.CheckEnded) bool {
	if old.Tests == nil {
		return false
	}
	first, _ := journal.FindCheck(others, old.Name)
	return slices.ContainsFunc(old.Tests.Broken, func(name string) bool { return first.Tests == nil || !slices.Contains(first.Tests.Broken, name) })
}

// misses reports whether tests of a reference do not run any more.
func (i *inspection) misses(ref reference) bool {
	for _, was := range ref.checks {
		here, _ := journal.FindCheck(i.proof.Checks, was.Name)
		ran := testNames(i.told(here), tally.Passed, tally.Failed)
		for name := range testNames(i.told(was), tally.Passed) {
			if !ran[name] {
				return true
			}
		}
		if counts(here).passed < counts(was).passed {
			return true
		}
	}
	return false
}

// expected returns the tests of a check that passed at a reference, as people named them later, and whether they left fewer.
func (j *judgement) expected(was journal.CheckEnded) (passed map[string]bool, fewer bool) {
	passed = testNames(j.told(was), tally.Passed)
	joined, ran := journal.FindCheck(j.joined, was.Name)
	if !ran {
		return passed, false
	}
	told := j.told(joined)
	if joined.Passed && len(told.Tests) > 0 { // else it may have ended at the first failure
		there := testNames(told, tally.Passed, tally.Skipped)
		maps.DeleteFunc(passed, func(name string, _ bool) bool { return !there[name] })
	}
	maps.Copy(passed, testNames(told, tally.Passed))
	return passed, joined.Passed && counts(joined).passed < counts(was).passed
}

// allow moves findings of a reference that a story's author allowed to those that are only shown.
func (i *inspection) allow(ref reference, from int) {
	passing, _ := i.run.OpenIteration()
	now, _ := i.run.Plan.Find(passing.Story)
	allowed := i.allowed(ref)
	kept := i.found[:from]
	for _, place := range i.found[from:] {
		known := len(place.Tests) > 0 && !slices.ContainsFunc(place.Tests, func(name string) bool { return !allowed[name] })
		if known || now.MayChangeTests && len(place.Tests) > 0 {
			i.shown = append(i.shown, place)
		} else {
			kept = append(kept, place)
		}
	}
	i.found = kept
}

// allowed returns the tests that earlier stories were allowed to change after a reference. If an earlier run left work open,
// what is built on may be older than its changes.
func (i *inspection) allowed(ref reference) map[string]bool {
	allowed := map[string]bool{}
	for _, name := range i.run.Allowed {
		allowed[name] = ref.story == "" || len(i.run.Open.Judges) > 0 && ref.commit == i.run.Onto.Commit
	}
	for _, earlier := range i.run.Inspections {
		for _, place := range earlier.Shown {
			for _, name := range place.Tests {
				allowed[name] = allowed[name] || i.isBefore(ref.commit, earlier.Commit)
			}
		}
	}
	return allowed
}

// isBefore reports whether a commit was proven before another one, or is the base.
func (i *inspection) isBefore(commit, other string) bool {
	proven := func(commit string) int {
		return slices.IndexFunc(i.run.Proofs, func(p journal.Proof) bool { return p.Commit == commit })
	}
	return other == "" || proven(commit) < proven(other)
}

// findLost finds stories that people's changes, or changes that people allowed, took the tests of: no reference tells.
func (i *inspection) findLost(ctx context.Context) error {
	passing, _ := i.run.OpenIteration()
	now, _ := i.run.Plan.Find(passing.Story)
	within := i.run.Iterations[:min(i.run.Onto.Iterations, len(i.run.Iterations))]
	for _, story := range i.run.Plan.UserStories {
		graded, _ := i.run.GradeOf(story.ID)
		if !story.Passes || len(graded.ProvingTests()) == 0 || !now.MayChangeTests && !wasProven(within, graded.Commit) {
			continue
		}
		there, err := i.hasTests(ctx, graded)
		if err != nil {
			return err
		}
		if !there {
			i.found = append(i.found, journal.Loosened{File: slices.Concat(graded.Files, graded.Tests)[0], Kind: testsGone, Why: "the tests that proved " + story.ID + " are gone: " + few(graded.ProvingTests())})
		}
	}
	return nil
}

// hasTests reports whether a test that proved a story still passes, or else whether its file is there.
func (i *inspection) hasTests(ctx context.Context, graded journal.StoryGraded) (bool, error) {
	for _, check := range i.proof.Checks {
		told := i.told(check)
		for _, name := range told.Names(tally.Passed) {
			if slices.ContainsFunc(graded.Tests, func(test string) bool { return tally.Word(test) == tally.Word(name) }) {
				return true, nil
			}
		}
	}
	if len(graded.Tests) > 0 {
		return false, nil
	}
	for _, file := range graded.Files {
		if text, err := i.prover.Changes.Text(ctx, i.commit, file); err != nil || text != "" {
			return err == nil, err
		}
	}
	return false, nil
}
