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

// stories returns the rows of stories, and how many are not shown.
func (s Source) stories(run journal.Run, segments []segment) ([]storyRow, int) {
	shown := run.Plan.UserStories[:min(len(run.Plan.UserStories), maxStories)]
	runs := checkRuns(segments)
	var rows []storyRow
	for _, story := range shown {
		row := s.storyRow(run, story)
		if ran := runs[story.ID]; ran.Runs > 0 {
			took := time.Duration(ran.TookMS) * time.Millisecond
			row.Runs = fmt.Sprintf("%d in %s", ran.Runs, policy.FormatDuration(took))
		}
		rows = append(rows, row)
	}
	return rows, len(run.Plan.UserStories) - len(shown)
}

func (s Source) storyRow(run journal.Run, story plan.Story) storyRow {
	row := storyRow{ID: s.line(story.ID, 80), Title: s.line(story.Title, 200), Mark: open, State: "open"}
	if story.Passes {
		row.Mark = good
		row.State = "passed"
	}
	for i, words := range view.StoryCells(run, story) {
		row.Cells = append(row.Cells, cell{view.StoryColumns()[i], phrase(words)})
	}
	row.Criteria, row.More = firstFew(s.lines(story.AcceptanceCriteria))
	proof, found := run.StoryProof(story.ID)
	if !found {
		return row
	}
	row.Why = s.line(proof.Why, 300)
	tests, more := firstFew(s.lines(proof.ProvingTests()))
	row.Tests = tests
	row.More += more
	if story.Passes && verdict.PassedInRun(run, story.ID) && !verdict.IsStoryProven(run, story) {
		row.Mark = open
	}
	return row
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
