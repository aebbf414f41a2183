package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// reviewed is a second opinion: on which story, by whom, and what it says.
func reviewed(e journal.StoryReviewed) string {
	text := one(e.Story) + " by " + one(e.By) + ": "
	switch {
	case e.Why != "":
		return text + "there is none: " + one(e.Why)
	case len(e.Missed) == 0:
		return text + fmt.Sprintf("no objection, %d of its criteria looked at", e.Looked) + unfounded(e)
	}
	var all []string
	for _, missed := range e.Missed {
		all = append(all, one(missed.String()))
	}
	return text + journal.Few(all) + unfounded(e)
}

// unfounded tells of objections that did not count.
func unfounded(e journal.StoryReviewed) string {
	if e.Unfounded == 0 {
		return ""
	}
	return fmt.Sprintf("; %s without a line that shows it", plural(e.Unfounded, "objection"))
}

// opinions are the newest second opinions of the stories, for a page.
func opinions(run journal.Run) []string {
	var said []string
	for _, story := range run.Plan.UserStories {
		if e, found := run.ReviewOf(story.ID); found {
			said = append(said, clean.Inline(reviewed(e), 600))
		}
	}
	return few(said)
}

// drafted is a plan that an agent made.
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
