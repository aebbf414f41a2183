package view

import (
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
)

// Headline is the state of a run in one phrase of Markdown, as the comment has
// it: for pages that are made elsewhere and may not contradict it.
func Headline(run journal.Run) string { return headline(run) }

// Sum is what a run took, in one line.
func Sum(run journal.Run) string { return sum(run) }

// Next is the one thing to do now, in Markdown; empty while the run goes on by
// itself.
func Next(run journal.Run) string { return next(run) }

// Cautions are the blocks of Markdown in which the comment says what people
// should look at.
func Cautions(run journal.Run) string {
	return strings.TrimSpace(was(run) + "\n\n" + fill("comment/cautions.md", page{Run: run}))
}

// Comment is the progress comment without the mark by which it is found again.
func Comment(run journal.Run) string {
	_, text, _ := strings.Cut(Of(run).Comment, "\n")
	return text
}

// Columns are those of the comment's table, behind the story.
func Columns() []string { return []string{"iterations", "checks", "proof", "commit", "cost"} }

// Cells are what its table says of a story, in the order of Columns; Markdown.
func Cells(run journal.Run, story plan.Story) []string {
	told := tell(run, story)
	return []string{strconv.Itoa(told.Iterations), told.Checks, told.Worth, told.Commit, told.Cost}
}

// Verdict is how a check ended and what that is worth; Markdown.
func Verdict(run journal.Run, check journal.CheckEnded) string { return checkResult(run, check) }

// Spent is an amount of money where nothing around it says what it is.
func Spent(usd float64, known bool) string { return spent(usd, known) }
