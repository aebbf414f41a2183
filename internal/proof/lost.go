package proof

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// findLost finds stories that people's changes took the tests of: nothing else tells, for these changes count as tests.
func (i *inspection) findLost(ctx context.Context) error {
	within := i.run.Iterations[:min(i.run.Onto.Iterations, len(i.run.Iterations))]
	for _, story := range i.run.Plan.UserStories {
		graded, _ := i.run.GradeOf(story.ID)
		if !story.Passes || len(graded.ProvingTests()) == 0 || !wasProven(within, graded.Commit) {
			continue
		}
		there, err := i.hasTests(ctx, graded)
		if err != nil {
			return err
		}
		if !there {
			i.found = append(i.found, journal.Loosened{File: graded.Files[0], Kind: testsGone, Why: "the tests that proved " + story.ID + " are gone: " + few(graded.ProvingTests())})
		}
	}
	return nil
}

// hasTests reports whether a test that proved a story still passes, or else whether its file is there.
func (i *inspection) hasTests(ctx context.Context, graded journal.StoryGraded) (bool, error) {
	for _, check := range i.proof.Checks {
		told := i.told(check)
		if slices.ContainsFunc(graded.Tests, func(name string) bool { return told.Of(name) == tally.Passed }) {
			return true, nil
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
