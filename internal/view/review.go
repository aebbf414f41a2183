package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// reviewed is Line's word on a second opinion.
func reviewed(e journal.StoryReviewed) string {
	text := "  second opinion on " + one(e.Story) + " by " + one(e.By) + ": "
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
			said = append(said, clean.Inline(strings.TrimPrefix(reviewed(e), "  second opinion on "), 600))
		}
	}
	return few(said)
}
