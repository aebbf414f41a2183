package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// worth is what it is worth that a story passes, for a cell of a table.
func worth(run journal.Run, story plan.Story) string {
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
	case verdict.NothingToProve(story, graded.Grade):
		return "📄 " + string(graded.Grade)
	}
	return "➖ " + string(graded.Grade)
}

// graded is Line's word on a grade.
func graded(run journal.Run, e journal.StoryGraded) string {
	story, found := run.Plan.Find(e.Story)
	text, why := one(e.Story)+" is "+string(e.Grade), one(e.Why)
	if found && verdict.IsGradeSufficient(run, story, e.Grade) {
		text, why = one(e.Story)+" is proven: "+string(e.Grade), ""
	}
	if e.Grade == journal.RedToGreen {
		return text + " by " + one(journal.Few(e.Witnesses()))
	}
	return behind(text, ": ", why)
}

// opinionSign goes before what somebody made of a story.
func opinionSign(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // nothing else is one
	case journal.StoryGraded:
		story, found := run.Plan.Find(e.Story)
		return pick(found && verdict.IsGradeSufficient(run, story, e.Grade), goodSign, warnSign)
	case journal.StoryReviewed:
		return pick(e.Why == "" && len(e.Missed) == 0, goodSign, warnSign)
	}
	return warnSign
}

// shown is a story's witnesses as a page has them.
type shown struct {
	ID    string
	Tests []string
}

// proofs are the stories that went from red to green, each with the tests that
// it did so by.
func proofs(run journal.Run) []shown {
	var all []shown
	for _, story := range run.Plan.UserStories {
		graded, found := run.GradeOf(story.ID)
		if !found || !verdict.IsStoryProven(run, story) || graded.Grade != journal.RedToGreen || len(all) == most {
			continue
		}
		told := shown{ID: story.ID}
		for _, name := range graded.Witnesses() {
			told.Tests = append(told.Tests, Code(name, 160))
		}
		told.Tests = few(told.Tests)
		all = append(all, told)
	}
	return all
}

// unproven tells which stories pass and are not proven, and why. It does not use
// that word: where nothing deserves it, it must not be read at all.
func unproven(run journal.Run) []string {
	var said []string
	for _, story := range verdict.UnprovenStories(run) {
		text := clean.Inline(story.ID+" "+story.Title, 160)
		if graded, found := run.GradeOf(story.ID); found {
			text += behind("", ": ", clean.Inline(graded.Why, 200))
			if verdict.MeetsBar(run, story, graded.Grade) {
				text += ", but " + verdict.FindingKinds(verdict.LatestInspection(run))
			}
		}
		said = append(said, text)
	}
	return few(said)
}

// touched are the protected files that the newest proof had to put back.
func touched(run journal.Run) string {
	proof, found := run.ProofOf(run.Tree)
	if !found {
		return ""
	}
	var paths []string
	for _, path := range proof.Restored {
		paths = append(paths, Code(path, 200))
	}
	return strings.Join(few(paths), ", ")
}

// held is why a pull request whose checks are green stays a draft.
func held(run journal.Run) string {
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
		return unsettled(run) + "; if that is as it should be, mark the pull request as ready by hand, or set `tamper: allow`"
	case len(ids) > 0:
		return "no test shows that " + clean.Inline(journal.Few(ids), 300) + " works"
	case len(idle) > 0:
		return "nothing was changed for " + clean.Inline(journal.Few(idle), 300) + ", see whether it holds"
	case !verdict.IsWorkProven(run):
		return "protected files were changed"
	}
	return ""
}

// criterion is one with the test that it was shown by.
type criterion struct{ Text, Test string }

// criteria are a story's, with what bears them out.
func criteria(run journal.Run, story plan.Story) []criterion {
	shown := verdict.CriterionTests(run, story)
	var all []criterion
	for i, text := range story.AcceptanceCriteria {
		told := criterion{Text: text}
		if slices.Contains(run.Added, text) {
			told.Text = "added by the agent: " + text
		}
		if shown[i] != "" {
			told.Test = Code(shown[i], 160)
		}
		all = append(all, told)
	}
	return all
}

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
		text += "; left out, because the review does not decide it: " + one(strings.Join(e.Left, ", "))
	}
	return text
}
