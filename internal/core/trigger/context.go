package trigger

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// ContextComment is a comment on an issue or a pull request.
type ContextComment struct {
	ID      int64
	Author  Sender
	Ours    bool // it has Marker
	Command bool // to ralph
	At      time.Time
	Edited  time.Time // the last edit; zero: unknown, as in At
	Text    string    // what its page shows
	Thread  Thread
	Review  int64 // the id of its review
	Member  bool  // GitHub lists the author as a member or collaborator, perhaps without write permission
}

// ContextFilter selects the comments that are context of a task.
type ContextFilter struct {
	Until         time.Time // the time of the request: later comments do not count
	Rules         Rules
	TriggerID     int64 // the comment that is the request
	TriggerReview int64 // the review that is the request
}

// Inclusion says whether a comment is context, or why not.
type Inclusion string

// The reasons are the words for people. An included comment also needs an author with permission.
// NoContent is for ralph's own comments, commands and empty texts: they are not counted as left out.
const (
	Included     Inclusion = "included"
	NoContent    Inclusion = "without content"
	NoPermission Inclusion = "by people without write permission"
	Unchecked    Inclusion = "by people whose permission was not checked"    // too many
	TooLate      Inclusion = "written or edited after the run was asked for" // or without a date
	FromBot      Inclusion = "by bots"
	OverLimit    Inclusion = "over the limit" // of a prompt
)

// Classify decides about a comment before its author's permission is known.
func (e ContextFilter) Classify(h ContextComment) Inclusion {
	switch {
	case h.Ours || h.Command || h.ID == e.TriggerID || strings.TrimSpace(h.Text) == "":
		return NoContent
	case h.Author.IsBot && !e.Rules.IsAllowed(h.Author):
		return FromBot
	case h.At.IsZero() || h.Edited.IsZero() || !e.isBefore(h, h.At) || !e.isBefore(h, h.Edited):
		return TooLate
	}
	return Included
}

// reviewDelay is how much later than a review GitHub dates its comments.
const reviewDelay = 3 * time.Second

func (e ContextFilter) isBefore(h ContextComment, at time.Time) bool {
	if e.TriggerReview != 0 && h.Review == e.TriggerReview {
		return !at.After(e.Until.Add(reviewDelay))
	}
	return at.Before(e.Until)
}

// String returns the place as people write it: cart.go:12. It is empty for none.
func (t Thread) String() string {
	switch {
	case t.Path == "":
		return ""
	case t.Line == 0:
		return t.Path
	}
	return fmt.Sprintf("%s:%d", t.Path, t.Line)
}

// InclusionCounts counts the comments by their inclusion.
type InclusionCounts map[Inclusion]int

// String summarizes the counts for people. It is empty if there were no comments.
func (l InclusionCounts) String() string {
	var left []string
	for _, why := range []Inclusion{NoPermission, Unchecked, TooLate, FromBot, OverLimit} {
		if n := l[why]; n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, why))
		}
	}
	if len(left) == 0 && l[Included] == 0 {
		return ""
	}
	text := fmt.Sprintf("comments read as context: %d", l[Included])
	if len(left) > 0 {
		text += "; left out: " + strings.Join(left, ", ")
	}
	return text
}

// TaskContext has what ralph read from GitHub for an accepted task.
type TaskContext struct {
	Comments    []ContextComment // by people with permission, the oldest first
	OpenThreads map[int64]bool
	Failing     []Check
	Counts      InclusionCounts
}

// Check is a check that is red on the head of a pull request.
type Check struct {
	Name    string
	Summary string // what it found, if that is public; cleaned
}

// AddContext adds the context to the task. ok is false if a pull request has nothing to do.
func (t Trigger) AddContext(task plan.Task, cmd Command, found TaskContext) (full plan.Task, ok bool) {
	for _, h := range found.Comments {
		task.Context = append(task.Context, plan.Comment{
			Author: h.Author.Login,
			At:     h.At,
			Text:   h.Text,
			Where:  h.Thread.String(),
			Hunk:   h.Thread.Hunk,
		})
	}
	for _, f := range found.Failing {
		task.Context = append(task.Context, plan.Comment{Where: "the check " + f.Name, Text: f.Summary})
	}
	if task.Kind != plan.KindPull {
		return task, true
	}
	hasBody := strings.TrimSpace(task.Body) != ""
	task = task.WithRemarks(t.remarks(cmd, found))
	return task, hasBody || len(task.Remarks) > 0
}

// remarks returns the changes that people ask for: the words of the command in a thread, the thread of the command, or
// the review. Otherwise these are all open threads and red checks.
func (t Trigger) remarks(cmd Command, found TaskContext) []plan.Remark {
	words := strings.TrimSpace(cmd.Words)
	thread := t.Comment.Thread
	withChecks := false
	var wanted func(h ContextComment) bool
	switch {
	case t.Review.ID != 0:
		words = strings.TrimSpace(t.Review.Body)
		wanted = func(h ContextComment) bool { return h.Review == t.Review.ID }
	case words != "" && thread.ID == 0: // the words are the task
		return nil
	case words != "":
		wanted = func(ContextComment) bool { return false }
	case thread.ID != 0:
		wanted = func(h ContextComment) bool { return h.Thread.ID == thread.ID }
	default:
		withChecks = true
		wanted = func(h ContextComment) bool { return h.Thread.ID != 0 && found.OpenThreads[h.Thread.ID] }
	}
	var all []plan.Remark
	for _, h := range found.Comments {
		if !wanted(h) {
			continue
		}
		all = append(all, plan.Remark{
			Thread: h.Thread.ID,
			Path:   h.Thread.Path,
			Line:   h.Thread.Line,
			By:     h.Author.Login,
			Text:   h.Text,
			ID:     h.ID,
		})
	}
	if words != "" {
		all = append(all, plan.Remark{
			Thread: thread.ID,
			Path:   thread.Path,
			Line:   thread.Line,
			By:     t.Asker().Login,
			Text:   words,
			ID:     t.Comment.ID,
		})
	}
	if !withChecks {
		return all
	}
	for _, f := range found.Failing {
		failed := ""
		if t.IsCI() { // the same check may be red on the next head
			failed = fmt.Sprintf(" It failed on `%.7s`.", t.CI.SHA)
		}
		all = append(all, plan.Remark{Text: fmt.Sprintf("The check `%s` passes.%s", codeName(f.Name), failed)})
	}
	return all
}

// codeName returns a check's name without characters that end a code span.
func codeName(name string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(name), " "), "`", "'")
}
