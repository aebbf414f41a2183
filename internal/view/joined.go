package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// joined is Line's word on what others did meanwhile.
func joined(run journal.Run, e journal.Joined) string {
	switch {
	case len(e.Conflicts) > 0:
		return one(moved(run, e) + " and conflicts in: " + journal.Few(e.Conflicts))
	case e.To == e.From:
		return ""
	}
	return one(moved(run, e) + ", and is merged: " + short(e.To))
}

// moved is what others did, without what became of it.
func moved(run journal.Run, e journal.Joined) string {
	text := run.Branch + " has moved on"
	if e.Of == journal.OfBase {
		text = run.BaseRef + " has moved on"
	}
	text += " to " + short(e.With)
	if e.Commits == 0 {
		return text
	}
	text += " (" + plural(e.Commits, "commit")
	if len(e.By) > 0 {
		text += " by " + journal.Few(e.By)
	}
	return text + ")"
}

// joins are, for pages, what others did and was merged, and what contradicts the
// work.
func joins(run journal.Run) []string {
	var said []string
	for _, left := range run.Leaves {
		said = append(said, fmt.Sprintf("the work has gone on from %s to %s: %s", Code(left.From, 200), Code(left.To, 200), clean.Inline(left.Why, 300)))
	}
	for _, e := range run.Joins {
		text := clean.Inline(moved(run, e), 400) + " and was merged"
		if len(e.Protected) > 0 {
			text += "; it changes protected files, which is for people to judge: " + paths(e.Protected)
		}
		said = append(said, text)
	}
	if p := run.Parted; p != nil {
		said = append(said, clean.Inline(moved(run, *p), 400)+" and conflicts in: "+paths(p.Conflicts))
	}
	return few(said)
}

func paths(names []string) string {
	var said []string
	for _, name := range names {
		said = append(said, Code(name, 200))
	}
	return strings.Join(few(said), ", ")
}

// apart is what to do about a base that contradicts the work.
func apart(run journal.Run) string {
	return fmt.Sprintf("merge %s into %s, mend what they contradict each other in, push, and comment `/ralph resume`",
		Code(run.BaseRef, 200), Code(run.Branch, 200))
}
