package report

import (
	"fmt"
	"html/template"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type storyRow struct {
	ID       string
	Title    string
	Mark     mark
	State    string
	Cells    []cell
	Criteria []string
	Tests    []string // tests that fail without the story
	More     int      // criteria and tests that are not shown
	Why      string
	Runs     string // number and time of its checks
}

// cell is a field of the comment's table.
type cell struct {
	Column string
	Text   template.HTML
}

const maxStories = 100

func (s Source) stories(run journal.Run, segments []segment) (all []storyRow, more int) {
	shown := run.Plan.UserStories[:min(len(run.Plan.UserStories), maxStories)]
	runs := checkRuns(segments)
	for _, story := range shown {
		one := s.storyRow(run, story)
		if ran := runs[story.ID]; ran.Runs > 0 {
			one.Runs = fmt.Sprintf("%d in %s", ran.Runs, policy.FormatDuration(time.Duration(ran.TookMS)*time.Millisecond))
		}
		all = append(all, one)
	}
	return all, len(run.Plan.UserStories) - len(shown)
}

func (s Source) storyRow(run journal.Run, story plan.Story) storyRow {
	one := storyRow{ID: s.line(story.ID, 80), Title: s.line(story.Title, 200), Mark: open, State: "open"}
	if story.Passes {
		one.Mark, one.State = good, "passed"
	}
	for i, words := range view.StoryCells(run, story) {
		one.Cells = append(one.Cells, cell{view.StoryColumns()[i], phrase(words)})
	}
	one.Criteria, one.More = firstFew(s.lines(story.AcceptanceCriteria))
	proof, found := run.StoryProof(story.ID)
	if !found {
		return one
	}
	one.Why = s.line(proof.Why, 300)
	tests, left := firstFew(s.lines(proof.ProvingTests()))
	one.Tests, one.More = tests, one.More+left
	if story.Passes && verdict.PassedInRun(run, story.ID) && !verdict.IsStoryProven(run, story) {
		one.Mark = open
	}
	return one
}

// checkRuns returns how often and how long checks ran for each story.
func checkRuns(segments []segment) map[string]journal.CheckRuns {
	runs := map[string]journal.CheckRuns{}
	for _, c := range segments {
		ran := runs[c.story]
		for _, m := range c.events {
			if proof, ok := m.event.(journal.ProofEnded); ok {
				ran.Runs += proof.Runs
				ran.TookMS += proof.TookMS
			}
		}
		runs[c.story] = ran
	}
	return runs
}
