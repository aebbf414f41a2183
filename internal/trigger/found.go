package trigger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Found is what was looked up for a task, once it was accepted.
type Found struct {
	Said    []Heard // by people who have a say, the oldest first
	Open    map[int64]bool
	Failing []Failing
	Lots    Lots
}

// Failing is a check that is red on a pull request.
type Failing struct {
	Name string
	Says string // what it found, as far as anybody may read it
}

// Fill is task with what was found for it. ok is false for a pull request on
// which nothing is left to do: nobody said what, no thread is open, and no
// check is red.
func (t Trigger) Fill(task plan.Task, cmd Command, found Found) (full plan.Task, ok bool) {
	for _, h := range found.Said {
		task.Context = append(task.Context, h.Said())
	}
	for _, f := range found.Failing {
		task.Context = append(task.Context, plan.Said{Where: "the check " + f.Name, Text: f.Says})
	}
	if task.Kind != plan.KindPull {
		return task, true
	}
	told := strings.TrimSpace(task.Body) != ""
	criteria := t.criteria(cmd, found)
	if len(criteria) == 0 {
		return task, told
	}
	task.Body = paragraph(task.Body, "## Acceptance criteria\n\n- "+strings.Join(criteria, "\n- "))
	return task, true
}

// criteria are what people want changed: the thread in which we were called,
// or the remarks of the review; where nobody said what, all that is open.
func (t Trigger) criteria(cmd Command, found Found) []string {
	of := func(Heard) bool { return false }
	silent := strings.TrimSpace(cmd.Words) == ""
	all := false
	switch {
	case t.Review.ID != 0:
		of = func(h Heard) bool { return h.Review == t.Review.ID }
	case !silent:
	case t.Comment.Thread.ID != 0:
		of = func(h Heard) bool { return h.Thread.ID == t.Comment.Thread.ID }
	default:
		all = true
		of = func(h Heard) bool { return h.Thread.ID != 0 && found.Open[h.Thread.ID] }
	}
	var criteria []string
	for _, h := range found.Said {
		if of(h) {
			criteria = append(criteria, fmt.Sprintf("`%s`: %s (%s)", plain(h.Thread.String()), oneLine(h.Text), h.By.Login))
		}
	}
	if all {
		for _, f := range found.Failing {
			criteria = append(criteria, fmt.Sprintf("The check `%s` passes.", plain(f.Name)))
		}
	}
	return slices.Compact(criteria)
}

// maxCriterion is how much of a remark stands in a criterion. All of it is in
// the context.
const maxCriterion = 400

// plain is a name for a code span, which it cannot end: files and checks are
// called what somebody likes.
func plain(name string) string { return strings.ReplaceAll(oneLine(name), "`", "'") }

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxCriterion {
		return string(runes[:maxCriterion-1]) + "…"
	}
	return text
}
