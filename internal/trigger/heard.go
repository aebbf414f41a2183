package trigger

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Heard is what somebody said on an issue or a pull request, cleaned.
type Heard struct {
	ID     int64
	By     Sender
	Ours   bool // it carries Marker
	At     time.Time
	Edited time.Time // last; both are zero where there is no reading them
	Text   string
	Thread Thread
	Review int64 // of which it is part
	Thumbs int   // how many put a 👍 on it

	Suggestion plan.Suggestion // for the lines on which it stands, as it came: it is not cleaned
}

// Ear is who is listened to, and up to when.
type Ear struct {
	Until  time.Time // what is said then or later was not there when somebody asked
	Rules  Rules
	Not    int64 // the trigger itself, which is in the task
	Review int64 // the trigger, whose remarks came with it
}

// Lot is what comes of something that was heard.
type Lot string

// It is used once its author is known to have permission. Own are texts that
// add nothing: ralph's own words, commands to ralph, and empty ones.
const (
	Taken    Lot = "taken"
	Own      Lot = "own"
	Bot      Lot = "bot"
	Undated  Lot = "undated"
	Late     Lot = "late"
	Changed  Lot = "changed"
	Stranger Lot = "stranger"
	Surplus  Lot = "surplus" // more than anybody reads
)

// Of decides about h, as far as that is possible without asking for its
// author's permission: text that was changed since is left out.
func (e Ear) Of(h Heard) Lot {
	_, command := parse(h.Text, e.Rules.phrase())
	switch {
	case h.Ours || command || h.ID == e.Not || strings.TrimSpace(h.Text) == "":
		return Own
	case h.By.IsBot && !e.Rules.Vouches(h.By):
		return Bot
	case h.At.IsZero() || h.Edited.IsZero() || e.Until.IsZero():
		return Undated
	case !e.before(h, h.At):
		return Late
	case !e.before(h, h.Edited):
		return Changed
	}
	return Taken
}

// sending is how long GitHub may take to date the remarks of a review that is
// sent off: they are stamped one by one.
const sending = 3 * time.Second

func (e Ear) before(h Heard, at time.Time) bool {
	if e.Review != 0 && h.Review == e.Review {
		return !at.After(e.Until.Add(sending))
	}
	return at.Before(e.Until)
}

// Approves tells whether a 👍 put on h at that time lets its text in: after the
// last edit, and before somebody asked. GitHub's times are whole seconds: an
// edit in the second of the 👍 may have come after it.
func (e Ear) Approves(h Heard, at time.Time) bool {
	return at.After(h.Edited) && at.Before(e.Until)
}

// Said is h as the context of a task.
func (h Heard) Said() plan.Comment {
	return plan.Comment{Author: h.By.Login, At: h.At, Text: h.Text, Where: h.Thread.String(), Hunk: h.Thread.Hunk}
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

// Lots counts what came of all that was heard.
type Lots map[Lot]int

// String says it for people; empty where there was nothing to hear.
func (l Lots) String() string {
	var left []string
	for _, one := range []struct {
		lot Lot
		why string
	}{
		{Stranger, "by people without write permission"},
		{Late, "written after the run was asked for"},
		{Changed, "edited after it"},
		{Undated, "without a date"},
		{Bot, "by bots"},
		{Surplus, "beyond what is read"},
	} {
		if n := l[one.lot]; n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, one.why))
		}
	}
	if len(left) == 0 && l[Taken] == 0 {
		return ""
	}
	text := fmt.Sprintf("comments read as context: %d", l[Taken])
	if len(left) > 0 {
		text += "; left out: " + strings.Join(left, ", ")
	}
	return text
}

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

// Fill is task with what was found for it. ok is false for a pull request
// without anything to do: no words were given, no thread is open, and no check
// is red.
func (t Trigger) Fill(task plan.Task, cmd Command, found Found) (full plan.Task, ok bool) {
	for _, h := range found.Said {
		task.Context = append(task.Context, h.Said())
	}
	for _, f := range found.Failing {
		task.Context = append(task.Context, plan.Comment{Where: "the check " + f.Name, Text: f.Says})
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
func (t Trigger) remarks(cmd Command, found Found) (all []plan.Remark) {
	of, everything := func(Heard) bool { return false }, false
	words, by, thread := strings.TrimSpace(cmd.Words), t.Asker().Login, t.Comment.Thread
	switch {
	case t.Review.ID != 0:
		of, words = func(h Heard) bool { return h.Review == t.Review.ID }, strings.TrimSpace(t.Review.Body)
	case words != "" && thread.ID == 0: // the task is in them
		return nil
	case words != "":
	case thread.ID != 0:
		of = func(h Heard) bool { return h.Thread.ID == thread.ID }
	default:
		everything = true
		of = func(h Heard) bool { return h.Thread.ID != 0 && found.Open[h.Thread.ID] }
	}
	for _, h := range found.Said {
		if of(h) {
			all = append(all, plan.Remark{Thread: h.Thread.ID, Path: h.Thread.Path, Line: h.Thread.Line, By: h.By.Login, Text: h.Text, Suggestion: h.Suggestion})
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
		if t.OfCI() { // the same check may be red on the next head
			failed = fmt.Sprintf(" It failed on `%.7s`.", t.CI.SHA)
		}
		all = append(all, plan.Remark{Text: fmt.Sprintf("The check `%s` passes.%s", plain(f.Name), failed)})
	}
	return all
}

// plain is a name for a code span, which it cannot end: checks are called what
// somebody likes.
func plain(name string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(name), " "), "`", "'")
}
