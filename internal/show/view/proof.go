package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

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
	text += ": " + journal.HowNewTestsFail(e.DoesNotBuild) + ", as it should"
	return appendNonEmpty(text, ": ", oneLine(journal.ShortList(journal.Proof(e).ProvingTests())))
}

// rowSign returns the sign before a story in a table.
func rowSign(run journal.Run, row storyRow) string {
	switch {
	case row.Active:
		return "⏳ "
	case verdict.ReviewAnswer(run, row.ID) != "":
		return "💬 "
	case verdict.IsStoryProven(run, row.Story):
		return goodSign + " "
	case row.Passes && verdict.PassedInRun(run, row.ID):
		return warnSign + " "
	}
	return ""
}

func storyTests(run journal.Run, story plan.Story) string {
	proof, found := run.StoryProof(story.ID)
	switch {
	case verdict.ReviewAnswer(run, story.ID) != "":
		return "answered"
	case story.Passes && found:
		return testCell(proof)
	case story.Passes && !verdict.PassedInRun(run, story.ID):
		return "passed before"
	}
	return "–"
}

const maxTests = 5 // in a cell

// testCell returns the tests that fail without a change, or else the result of its proof.
func testCell(proof journal.Proof) string {
	tests := proof.ProvingTests()
	if len(tests) == 0 {
		return proof.Result.Text() + appendNonEmpty("", ": ", clean.Inline(proof.Why, 200))
	}
	var cells []string
	for _, test := range tests[:min(len(tests), maxTests)] {
		cells = append(cells, Code(test, 160))
	}
	if more := len(tests) - len(cells); more > 0 {
		cells = append(cells, fmt.Sprintf("… and %d more", more))
	}
	if proof.DoesNotBuild {
		cells = append(cells, "(without the change, it does not build)")
	}
	return strings.Join(cells, "<br>")
}

// criteriaCells returns the criteria of a story, each with the test that shows it.
func criteriaCells(story plan.Story, tests, added []string) []string {
	var cells []string
	for i, text := range story.AcceptanceCriteria {
		cell := clean.Inline(text, 160)
		if slices.Contains(added, text) {
			cell = "added by the agent: " + cell
		}
		if tests[i] != "" {
			cell += " " + goodSign + " " + Code(tests[i], 160)
		}
		cells = append(cells, cell)
	}
	return cells
}

func restoredForProof(run journal.Run) string {
	proof, _ := run.ProofOf(run.Tree)
	return codePaths(proof.Restored)
}

// draftReason returns why a pull request with green checks stays a draft.
func draftReason(run journal.Run) string {
	return cmp.Or(doubt(run), clean.Inline(verdict.WhyUnproven(run), 300))
}

// doubt returns why a person has to review stories that passed. Empty: each is shown to work.
func doubt(run journal.Run) string {
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
		return reason
	}
	switch {
	case len(ids) > 0:
		return "no test shows that " + clean.Inline(journal.ShortList(ids), 300) + " works"
	case len(idle) > 0:
		return "nothing was changed for " + clean.Inline(journal.ShortList(idle), 300) + ", check that it works"
	}
	return ""
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

// places are what a person should look at in a change.
type places struct {
	Look     []journal.Look // each once
	Untested []journal.Lines
	Tried    journal.Tried
}

func placesOf(run journal.Run) places {
	var found places
	seen := map[string]bool{}
	for _, proof := range newestProofs(run) {
		for _, place := range proof.Look {
			if seen[place.String()] {
				continue
			}
			seen[place.String()] = true
			found.Look = append(found.Look, place)
		}
		if proof.Reused {
			continue
		}
		if story, ok := run.Plan.Find(proof.Story); ok && !story.Passes { // a review may follow
			continue
		}
		found.Untested = append(found.Untested, proof.Untested...)
		found.Tried.ByTest += proof.Tried.ByTest
		found.Tried.ByBuild += proof.Tried.ByBuild
	}
	return found
}

// CheckSummary returns the summary of the check ralph/proof: the table of a pull request, for a change of others. The
// stories are those that the change is for, and from is where they are written. They are left out until the text fits:
// what a person has to look at is below them.
func CheckSummary(o checkout.Outcome, stories []plan.Story, from string, limit int) string {
	o.Base, _ = clean.Plain(o.Base, 7)
	o.Head, _ = clean.Plain(o.Head, 7)
	for shown := min(len(stories), maxListed); ; shown = shown * 3 / 4 {
		text := fillTemplate("proof.md", struct {
			Rows    []storyRow
			More    int
			From    string
			Outcome checkout.Outcome
		}{changeRows(o, stories[:shown]), len(stories) - shown, from, o})
		if len(text) <= limit || shown == 0 {
			return text
		}
	}
}

// changeRows returns a row for the whole change, and below it one for each story with the tests that its criteria name.
func changeRows(o checkout.Outcome, stories []plan.Story) []storyRow {
	proof := journal.Proof{Result: o.Result, Why: o.Why, Tests: o.Tests, Files: o.Files, DoesNotBuild: o.DoesNotBuild}
	whole := storyRow{
		Sign:   pick(o.Result == journal.Proven, goodSign+" ", ""),
		Name:   "**The whole change**",
		Test:   testCell(proof),
		Commit: Code(o.Head, 7),
	}
	rows := []storyRow{whole}
	if o.Result != journal.Proven { // its tests show no criterion
		proof.Tests = nil
	}
	for _, story := range stories {
		rows = append(rows, storyRow{
			Name:     clean.Inline(story.Title, 160),
			Criteria: criteriaCells(story, verdict.CriterionTests(story, proof), nil),
		})
	}
	return rows
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
