package report

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
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
	Spans  []span
}

const maxStories = 100

func (s Source) stories(run journal.Run, chapters []segment) (all []storyRow, more int) {
	shown := run.Plan.UserStories[:min(len(run.Plan.UserStories), maxStories)]
	runs := checkRuns(chapters)
	for _, story := range shown {
		one := s.storyRow(run, story, roomForStories/len(shown))
		if ran := runs[story.ID]; ran.Runs > 0 {
			one.Runs = fmt.Sprintf("%d in %s", ran.Runs, policy.FormatDuration(time.Duration(ran.TookMS)*time.Millisecond))
		}
		all = append(all, one)
	}
	return all, len(run.Plan.UserStories) - len(shown)
}

func (s Source) storyRow(run journal.Run, story plan.Story, room int) storyRow {
	one := storyRow{ID: oneLine(story.ID, 80), Title: oneLine(story.Title, 200), Mark: open, State: "open"}
	if story.Passes {
		one.Mark, one.State = good, "passed"
	}
	for i, words := range view.StoryCells(run, story) {
		one.Cells = append(one.Cells, cell{view.StoryColumns()[i], spans(words)})
	}
	one.Criteria, one.More = firstThatFit(oneLines(story.AcceptanceCriteria), room/2, markupOfItem)
	graded, found := run.GradeOf(story.ID)
	if !found {
		return one
	}
	one.Why = oneLine(graded.Why, 300)
	tests, left := firstThatFit(oneLines(graded.ProvingTests()), room/2, markupOfItem)
	one.Tests, one.More = tests, one.More+left
	if story.Passes && verdict.PassedInRun(run, story.ID) && !verdict.IsStoryProven(run, story) {
		one.Mark = open
	}
	return one
}

// checkRuns returns how often and how long checks ran for each story.
func checkRuns(chapters []segment) map[string]journal.CheckRuns {
	runs := map[string]journal.CheckRuns{}
	for _, c := range chapters {
		ran := runs[c.story]
		for _, m := range c.events {
			ran.Add(m.event)
		}
		runs[c.story] = ran
	}
	return runs
}

func oneLines(texts []string) []string {
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		all = append(all, oneLine(text, 400))
	}
	return all
}
