package trigger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Button is a box in a comment of ours that does what a command does once
// somebody ticks it; label is what people read.
func Button(verb Verb, label string) string {
	return fmt.Sprintf("- [ ] %sbutton %s --> %s", Marker, verb, label)
}

var ticked = pattern.Of(`(?m)^\s*- \[([ xX])\] <!-- ralph:button ([a-z]+) -->`)

// Pressed is the verb of the box that an edit from before to after has ticked;
// empty where it ticked none, or more than one. Boxes that were ticked before
// are somebody else's doing, long done.
func Pressed(before, after string) string {
	had := boxes(before)
	var fresh []string
	for verb, is := range boxes(after) {
		if is && !had[verb] {
			fresh = append(fresh, verb)
		}
	}
	if len(fresh) != 1 {
		return ""
	}
	return fresh[0]
}

// boxes tells of every box whether it is ticked.
func boxes(text string) map[string]bool {
	all := map[string]bool{}
	for _, found := range ticked.FindAllStringSubmatch(text, -1) {
		all[found[2]] = all[found[2]] || strings.EqualFold(found[1], "x")
	}
	return all
}

// pressed reads the button of an edited comment.
func pressed(t Trigger, rules Rules) (Command, string) {
	switch {
	case !rules.Buttons:
		return Command{}, `a comment that is "edited" starts nothing: only a new one does`
	case !t.Comment.Ours:
		return Command{}, `a comment that is "edited" starts nothing, unless it is our own`
	case t.Comment.Pressed == "":
		return Command{}, "the edit ticked no box of ours"
	case !slices.Contains(verbs, Verb(t.Comment.Pressed)):
		return Command{}, fmt.Sprintf("there is no button %q", t.Comment.Pressed)
	}
	return Command{Verb: Verb(t.Comment.Pressed)}, ""
}
