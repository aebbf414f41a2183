package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
)

func proofCell(run journal.Run, story plan.Story) string {
	graded, found := run.GradeOf(story.ID)
	switch {
	case verdict.ReviewAnswer(run, story.ID) != "":
		return "💬 answered"
	case !story.Passes || !found:
		return "–"
	case verdict.IsStoryProven(run, story):
		return "✅ proven, " + string(graded.Grade)
	case graded.Grade == journal.Unverified:
		return warnSign + " unverified"
	}
	return "➖ " + string(graded.Grade)
}

func gradeText(run journal.Run, e journal.StoryGraded) string {
	story, found := run.Plan.Find(e.Story)
	text, why := oneLine(e.Story)+" is "+string(e.Grade), oneLine(e.Why)
	if found && verdict.IsGradeSufficient(run, story, e.Grade) {
		text, why = oneLine(e.Story)+" is proven: "+string(e.Grade), ""
	}
	if e.Grade == journal.RedToGreen {
		return text + " by " + oneLine(journal.ShortList(e.ProvingTests()))
	}
	return appendNonEmpty(text, ": ", why)
}

// redToGreen returns the stories that tests have proven.
func redToGreen(run journal.Run) []journal.StoryGraded {
	var all []journal.StoryGraded
	for _, story := range run.Plan.UserStories {
		if graded, found := run.GradeOf(story.ID); found && graded.Grade == journal.RedToGreen && verdict.IsStoryProven(run, story) {
			all = append(all, graded)
		}
	}
	return all
}

// unprovenStories lists the stories that are not proven, with the reason. It avoids the word "proven", which must not
// be on a page without a proven story.
func unprovenStories(run journal.Run) []string {
	var lines []string
	for _, story := range verdict.UnprovenStories(run) {
		text := escapeLineStart(story.ID+" "+story.Title, 160)
		if graded, found := run.GradeOf(story.ID); found {
			text += appendNonEmpty("", ": ", clean.Inline(graded.Why, 200))
			if verdict.MeetsBar(run, story, graded.Grade) {
				text += ", but " + verdict.FindingKinds(verdict.LatestInspection(run))
			}
		}
		lines = append(lines, text)
	}
	return firstFew(lines)
}

func restoredForProof(run journal.Run) string {
	proof, _ := run.ProofOf(run.Tree)
	return codePaths(proof.Restored)
}

// draftReason returns why a pull request with green checks stays a draft.
func draftReason(run journal.Run) string {
	var ids, idle []string
	for _, story := range verdict.UnprovenStories(run) {
		graded, _ := run.GradeOf(story.ID)
		switch {
		case verdict.MeetsBar(run, story, graded.Grade):
		case len(graded.Held) > 0:
			idle = append(idle, story.ID)
		default:
			ids = append(ids, story.ID)
		}
	}
	switch {
	case len(ids)+len(idle) == 0 && verdict.InspectionConcern(run) != "":
		return inspectionDoubts(run) + "; if that is as it should be, mark the pull request as ready by hand, or set `tamper: allow`"
	case len(ids) > 0:
		return "no test shows that " + clean.Inline(journal.ShortList(ids), 300) + " works"
	case len(idle) > 0:
		return "nothing was changed for " + clean.Inline(journal.ShortList(idle), 300) + ", check that it works"
	case verdict.IsCommentIgnored(run):
		return "nothing was changed for what the comment asks"
	case !verdict.IsWorkProven(run):
		return "protected files were changed"
	}
	return ""
}

func reviewText(e journal.StoryReviewed) string {
	text := oneLine(e.Story) + " by " + oneLine(e.By) + ": "
	switch {
	case e.Why != "":
		return text + "there is none: " + oneLine(e.Why)
	case len(e.Missed) == 0:
		return text + fmt.Sprintf("no objection, %d of its criteria checked", e.Looked) + unfoundedText(e)
	}
	var all []string
	for _, missed := range e.Missed {
		all = append(all, oneLine(missed.String()))
	}
	return text + journal.ShortList(all) + unfoundedText(e)
}

func unfoundedText(e journal.StoryReviewed) string {
	if e.Unfounded == 0 {
		return ""
	}
	return fmt.Sprintf("; %s without a line that shows it", Plural(e.Unfounded, "objection"))
}

func reviewTexts(run journal.Run) []string {
	var lines []string
	for _, story := range run.Plan.UserStories {
		if e, found := run.ReviewOf(story.ID); found {
			lines = append(lines, escapeLineStart(reviewText(e), 600))
		}
	}
	return firstFew(lines)
}

func draftText(e journal.PlanDrafted) string {
	text := "plan by " + oneLine(e.By) + ": "
	switch {
	case e.Question != "":
		return text + "it asks: " + oneLine(e.Question)
	case len(e.Stories) == 0:
		return text + "there is none: " + oneLine(e.Why)
	}
	var titles []string
	for _, story := range e.Stories {
		titles = append(titles, oneLine(story.ID+" "+story.Title))
	}
	text += journal.ShortList(titles)
	if len(e.Left) > 0 {
		text += "; left out, because the review does not decide it: " + oneLine(strings.Join(e.Left, ", "))
	}
	return text
}
