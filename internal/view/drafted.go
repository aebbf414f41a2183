package view

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// drafted is Line's word on a plan that an agent made.
func drafted(e journal.PlanDrafted) string {
	text := "plan by " + one(e.By) + ": "
	switch {
	case e.Question != "":
		return text + "it asks: " + one(e.Question)
	case len(e.Stories) == 0:
		return text + "there is none: " + one(e.Why)
	}
	var titles []string
	for _, story := range e.Stories {
		titles = append(titles, one(story.ID+" "+story.Title))
	}
	text += journal.Few(titles)
	if len(e.Left) > 0 {
		text += "; left out, as it is not its to say: " + one(strings.Join(e.Left, ", "))
	}
	return text
}
