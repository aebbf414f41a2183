package proof

import (
	"context"
	"fmt"
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

// noteRemoved notes the tests that passed before people's change, and do not with it: older references do not miss them.
func (i *inspection) noteRemoved(ref reference) {
	before := i.run.BaseChecks
	for _, proof := range i.run.Proofs {
		if proof.Commit == ref.people.Sound {
			before = proof.Checks
		}
	}
	for _, was := range before {
		now, ran := journal.FindCheck(ref.checks, was.Name)
		if !ran || ref.failed != "" {
			continue
		}
		i.fewer[was.Name] = i.fewer[was.Name] || counts(now).passed < counts(was).passed
		left := testNames(i.told(now), tally.Passed)
		for name := range testNames(i.told(was), tally.Passed) {
			i.removed[name] = i.removed[name] || len(left) > 0 && !left[name]
		}
	}
}

// allow moves findings of a reference that a story's author allowed to those that are only shown. What an earlier story
// was allowed counts for references before it.
func (i *inspection) allow(ref reference, from int) {
	passing, _ := i.run.OpenIteration()
	now, _ := i.run.Plan.Find(passing.Story)
	allowed := map[string]bool{}
	for _, earlier := range i.run.Inspections {
		for _, place := range earlier.Shown {
			for _, name := range place.Tests {
				allowed[name] = allowed[name] || i.isBefore(ref.commit, earlier.Commit)
			}
		}
	}
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
