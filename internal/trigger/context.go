package trigger

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
)

// ContextComment is what somebody said on an issue or a pull request, cleaned.
type ContextComment struct {
	ID     int64
	Author Sender
	Ours   bool // it carries Marker
	At     time.Time
	Edited time.Time // last; both are zero where there is no reading them
	Text   string
	Thread Thread
	Review int64 // of which it is part
	Thumbs int   // how many put a 👍 on it

	Suggestion plan.Suggestion // for the lines on which it stands, as it came: it is not cleaned
}

// ContextFilter is who is listened to, and up to when.
type ContextFilter struct {
	Until         time.Time // what is said then or later was not there when somebody asked
	Rules         Rules
	TriggerID     int64 // the trigger itself, which is in the task
	TriggerReview int64 // the trigger, whose remarks came with it
}

// Inclusion is what comes of something that was heard.
type Inclusion string

// It is used once its author is known to have permission. Own are texts that
// add nothing: ralph's own words, commands to ralph, and empty ones.
const (
	Included     Inclusion = "taken"
	NoContent    Inclusion = "own"
	FromBot      Inclusion = "bot"
	Undated      Inclusion = "undated"
	TooLate      Inclusion = "late"
	EditedLater  Inclusion = "changed"
	NoPermission Inclusion = "stranger"
	OverLimit    Inclusion = "surplus" // more than anybody reads
)

// Classify decides about h, as far as that is possible without asking for its
// author's permission: text that was changed since is left out.
func (e ContextFilter) Classify(h ContextComment) Inclusion {
	_, command := parseComment(h.Text, e.Rules.phrase())
	switch {
	case h.Ours || command || h.ID == e.TriggerID || strings.TrimSpace(h.Text) == "":
		return NoContent
	case h.Author.IsBot && !e.Rules.IsAllowed(h.Author):
		return FromBot
	case h.At.IsZero() || h.Edited.IsZero() || e.Until.IsZero():
		return Undated
	case !e.isBefore(h, h.At):
		return TooLate
	case !e.isBefore(h, h.Edited):
		return EditedLater
	}
	return Included
}

// reviewDelay is how long GitHub may take to date the remarks of a review that is
// sent off: they are stamped one by one.
const reviewDelay = 3 * time.Second

func (e ContextFilter) isBefore(h ContextComment, at time.Time) bool {
	if e.TriggerReview != 0 && h.Review == e.TriggerReview {
		return !at.After(e.Until.Add(reviewDelay))
	}
	return at.Before(e.Until)
}

// IsApprovedAt tells whether a 👍 put on h at that time lets its text in: after the
// last edit, and before somebody asked. GitHub's times are whole seconds: an
// edit in the second of the 👍 may have come after it.
func (e ContextFilter) IsApprovedAt(h ContextComment, at time.Time) bool {
	return at.After(h.Edited) && at.Before(e.Until)
}

// AsContext is h as the context of a task.
func (h ContextComment) AsContext() plan.Comment {
	return plan.Comment{Author: h.Author.Login, At: h.At, Text: h.Text, Where: h.Thread.String(), Hunk: h.Thread.Hunk}
}

// String is the place as people write it: cart.go:12. Empty for none.
func (t Thread) String() string {
	switch {
	case t.Path == "":
		return ""
	case t.Line == 0:
		return t.Path
	}
	return fmt.Sprintf("%s:%d", t.Path, t.Line)
}

// InclusionCounts counts what came of all that was heard.
type InclusionCounts map[Inclusion]int

// String says it for people; empty where there was nothing to hear.
func (l InclusionCounts) String() string {
	var left []string
	for _, one := range []struct {
		lot Inclusion
		why string
	}{
		{NoPermission, "by people without write permission"},
		{TooLate, "written after the run was asked for"},
		{EditedLater, "edited after it"},
		{Undated, "without a date"},
		{FromBot, "by bots"},
		{OverLimit, "beyond what is read"},
	} {
		if n := l[one.lot]; n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, one.why))
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

// TaskContext is what was looked up for a task, once it was accepted.
type TaskContext struct {
	Comments    []ContextComment // by people who have a say, the oldest first
	OpenThreads map[int64]bool
	Failing     []FailingCheck
	Counts      InclusionCounts
}

// FailingCheck is a check that is red on a pull request.
type FailingCheck struct {
	Name    string
	Summary string // what it found, as far as anybody may read it
}

// AddContext is task with what was found for it. ok is false for a pull request
// without anything to do: no words were given, no thread is open, and no check
// is red.
func (t Trigger) AddContext(task plan.Task, cmd Command, found TaskContext) (full plan.Task, ok bool) {
	for _, h := range found.Comments {
		task.Context = append(task.Context, h.AsContext())
	}
	for _, f := range found.Failing {
		task.Context = append(task.Context, plan.Comment{Where: "the check " + f.Name, Text: f.Summary})
	}
	if task.Kind != plan.KindPull {
		return task, true
	}
	told := strings.TrimSpace(task.Body) != ""
	task = task.WithRemarks(t.remarks(cmd, found))
	return task, told || len(task.Remarks) > 0
}

// remarks are what people want changed: the words in a thread, the thread with the
// command, or the review; without these, all open threads and the red checks.
func (t Trigger) remarks(cmd Command, found TaskContext) (all []plan.Remark) {
	of, everything := func(ContextComment) bool { return false }, false
	words, by, thread := strings.TrimSpace(cmd.Words), t.Asker().Login, t.Comment.Thread
	switch {
	case t.Review.ID != 0:
		of, words = func(h ContextComment) bool { return h.Review == t.Review.ID }, strings.TrimSpace(t.Review.Body)
	case words != "" && thread.ID == 0: // the task is in them
		return nil
	case words != "":
	case thread.ID != 0:
		of = func(h ContextComment) bool { return h.Thread.ID == thread.ID }
	default:
		everything = true
		of = func(h ContextComment) bool { return h.Thread.ID != 0 && found.OpenThreads[h.Thread.ID] }
	}
	for _, h := range found.Comments {
		if of(h) {
			all = append(all, plan.Remark{Thread: h.Thread.ID, Path: h.Thread.Path, Line: h.Thread.Line, By: h.Author.Login, Text: h.Text, Suggestion: h.Suggestion})
		}
	}
	if words != "" {
		all = append(all, plan.Remark{Thread: thread.ID, Path: thread.Path, Line: thread.Line, By: by, Text: words})
	}
	if !everything {
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

// codeName is a name for a code span, which it cannot end: checks are called what
// somebody likes.
func codeName(name string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(name), " "), "`", "'")
}
