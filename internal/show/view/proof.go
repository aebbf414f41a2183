package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func proofCell(run journal.Run, story plan.Story) string {
	proof, found := run.StoryProof(story.ID)
	switch {
	case verdict.ReviewAnswer(run, story.ID) != "":
		return "💬 answered"
	case !story.Passes || !found:
		return "–"
	case verdict.IsStoryProven(run, story):
		return "✅ " + proof.Result.Text()
	case proof.Result == journal.Unknown:
		return warnSign + " " + proof.Result.Text()
	}
	return "➖ " + proof.Result.Text()
}

// proofLines returns how a proof ended, and how many of the changed places a test needs.
func proofLines(run journal.Run, e journal.ProofEnded) []eventLine {
	story, _ := run.Plan.Find(e.Story)
	sign := warnSign
	switch {
	case !e.Passed:
		sign = badSign
	case verdict.IsEnough(run, story, e.Result):
		sign = goodSign
	}
	lines := []eventLine{iterationLine(sign, proofText(e))}
	if text := journal.UntestedText(e.Untested, e.Tried); text != "" && !e.Reused {
		lines = append(lines, iterationLine(plainSign, oneLine(text)))
	}
	return lines
}

// proofText says how a proof ended.
func proofText(e journal.ProofEnded) string {
	name := "the whole change"
	if e.Story != "" {
		name = oneLine(e.Story)
	}
	if e.Reused {
		return name + " is shown by the same proof: " + e.Result.Text()
	}
	text := name + " (" + shortSHA(e.Commit) + "): " + e.Result.Text()
	if len(e.Restored) > 0 {
		text += ", with the base's version of " + oneLine(journal.ShortList(e.Restored))
	}
	if e.Result != journal.Proven {
		return appendNonEmpty(text, ": ", oneLine(e.Why))
	}
	how := journal.HowNewTestsFail(e.DoesNotBuild) + ", as it should: "
	return text + ": " + how + oneLine(journal.ShortList(journal.Proof(e).ProvingTests()))
}

// provenStories returns the proofs of stories by tests.
func provenStories(run journal.Run) []journal.Proof {
	var all []journal.Proof
	for _, story := range run.Plan.UserStories {
		proof, _ := run.StoryProof(story.ID)
		if proof.Result == journal.Proven && verdict.IsStoryProven(run, story) {
			all = append(all, proof)
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
		if proof, found := run.StoryProof(story.ID); found {
			text += ": " + proof.Result.Text() + appendNonEmpty("", ", ", clean.Inline(proof.Why, 200))
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
		proof, _ := run.StoryProof(story.ID)
		switch {
		case proof.Result == journal.NeedsReview:
		case len(proof.Held) > 0:
			idle = append(idle, story.ID)
		default:
			ids = append(ids, story.ID)
		}
	}
	if reason := reviewReason(run); reason != "" {
		return reason + "; if that is as it should be, mark the pull request as ready by hand, or set `tamper: allow`"
	}
	switch {
	case len(ids) > 0:
		return "no test shows that " + clean.Inline(journal.ShortList(ids), 300) + " works"
	case len(idle) > 0:
		return "nothing was changed for " + clean.Inline(journal.ShortList(idle), 300) + ", check that it works"
	}
	return clean.Inline(verdict.WhyUnproven(run), 300)
}

// reviewReason returns why a person has to look at the work first; empty: no person has to.
func reviewReason(run journal.Run) string {
	for _, proof := range newestProofs(run) {
		if proof.Result == journal.NeedsReview {
			return clean.Inline(proof.Why, 300)
		}
	}
	return ""
}

// newestProofs returns the proof of the whole change, if there is one, and the newest of each story.
func newestProofs(run journal.Run) []journal.Proof {
	var all []journal.Proof
	if whole, found := run.WholeProof(); found {
		all = append(all, whole)
	}
	for _, story := range run.Plan.UserStories {
		if proof, found := run.StoryProof(story.ID); found {
			all = append(all, proof)
		}
	}
	return all
}

// looks returns the places for a person, each once.
func looks(run journal.Run) []journal.Look {
	var all []journal.Look
	seen := map[string]bool{}
	for _, proof := range newestProofs(run) {
		for _, place := range proof.Look {
			if seen[place.String()] {
				continue
			}
			seen[place.String()] = true
			all = append(all, place)
		}
	}
	return all
}

// placesTried returns the lines that no test needs, and how many others were tried.
func placesTried(run journal.Run) ([]journal.Lines, journal.Tried) {
	var untested []journal.Lines
	var tried journal.Tried
	for _, proof := range newestProofs(run) {
		if proof.Reused {
			continue
		}
		if story, found := run.Plan.Find(proof.Story); found && !story.Passes { // a review may follow
			continue
		}
		untested = append(untested, proof.Untested...)
		tried.ByTest += proof.Tried.ByTest
		tried.ByBuild += proof.Tried.ByBuild
	}
	return untested, tried
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
