// Package view makes all texts about a run: the comment, the job summary, the pull request, log lines and the console.
// Each text is a function of the run, so that texts cannot contradict each other. It makes no calls.
package view

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/templates"
)

// Limit is GitHub's limit for the characters of a comment or body.
const Limit = 65536

const maxText = Limit - 200 // leaves room for markers

// Texts has the texts about a run on GitHub at one moment.
type Texts struct {
	Run     string
	Comment string // the progress comment and the job's summary, marker included
	Pull    Pull
	State   State
}

// Pull is the title and body of the pull request.
type Pull struct {
	Number int // 0 while there is none
	Title  string
	Body   string
}

// Of returns the texts about the current state of run.
func Of(run journal.Run) Texts {
	return Texts{
		Run:     run.ID,
		Comment: fillTemplate("markers", run) + Comment(run),
		Pull:    pullOf(run),
		State:   stateOf(run),
	}
}

// PlanText returns the plan in the comment, its second paragraph.
func PlanText(run journal.Run) string {
	_, text, _ := strings.Cut(Comment(run), "\n\n") // the headline
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// Comment returns the progress comment without ralph's markers. A search for them would find one in foreign text, even
// in code.
func Comment(run journal.Run) string {
	return defuseMarkers(render("progress.md", run))
}

type templateData struct {
	journal.Run
	Stories []storyRow
	More    int // stories that are not shown
}

// storyRow is a row of the table that comment, pull request and check have in common. Its texts are Markdown.
type storyRow struct {
	plan.Story
	Sign       string
	Name       string
	Criteria   []string
	Test       string // tests that fail without the change, or how its proof ended
	Commit     string
	Said       string // text of the agent that last changed files for the story
	Iterations int
	Cost       string
	Active     bool
}

// render executes a template. It leaves out stories until the text fits.
func render(name string, run journal.Run) string {
	all := storyRows(run, run.Plan.UserStories)
	for shown := len(all); ; shown = shown * 3 / 4 {
		text := fillTemplate(name, templateData{Run: run, Stories: all[:shown], More: len(all) - shown})
		if len(text) <= maxText || shown == 0 {
			return trimLists(text)
		}
	}
}

// pageTemplates parses the templates when first needed: most commands need none.
var pageTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"cell":             func(s string) string { return clean.Inline(s, 160) },
		"words":            func(s string) string { return clean.Inline(s, 300) },
		"code":             func(s string) string { return Code(s, 160) },
		"first":            first,
		"more":             more,
		"short":            shortSHA,
		"headline":         Headline,
		"storyCount":       storyCount,
		"savedCommit":      savedCommit,
		"savedCommitOnRef": savedCommitOnRef,
		"lineStart":        func(s string) string { return escapeLineStart(s, 160) },
		// For text that people approve, so nearly all of it is shown.
		"longLineStart":    func(s string) string { return escapeLineStart(s, 2000) },
		"problems":         verdictProblems,
		"publishFailures":  publishFailures,
		"notes":            listedNotes,
		"newest":           newest,
		"baselineCaution":  baselineCaution,
		"next":             Next,
		"signOf":           signOf,
		"sentence":         func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"location":         location,
		"patch":            patchBlock,
		"plural":           Plural,
		"time":             elapsed,
		"duration":         policy.FormatDuration,
		"cost":             namedCost,
		"issueLink":        issueLink,
		"proof":            newestProof,
		"verdict":          proofCheckText,
		"ended":            checkout.Ended,
		"rejectedClaims":   rejectedClaims,
		"restoredFiles":    restoredFiles,
		"proposedPatches":  proposedPatches,
		"isUnchecked":      isUnchecked,
		"restoredForProof": restoredForProof,
		"places":           placesOf,
		"doubt":            doubt,
		"failure":          failure,
		"reviews":          reviewTexts,
		"conflicts":        conflicts,
		"othersChanges":    othersChanges,
		"quietWorkflows":   quietWorkflows,
		"withoutComments":  func(s string) string { return strings.TrimSpace(htmlComment.ReplaceAllString(s, "")) },
		"agentWords": func(all []storyRow) []storyRow {
			return slices.DeleteFunc(slices.Clone(all), func(s storyRow) bool { return s.Said == "" })
		},
		"unapproved": verdict.NeedsApproval,
	}).ParseFS(templates.Files, "comment/*.md", "pull/*.md", "archive/*.md"))
})

var escapeEmphasis = strings.NewReplacer(`\*`, `\*`, `\_`, `\_`, "*", `\*`, "_", `\_`)

func fillTemplate(name string, data any) string {
	var text strings.Builder
	if err := pageTemplates().ExecuteTemplate(&text, name, data); err != nil {
		return fmt.Sprintf("ralph could not write %s: %v", name, err)
	}
	return collapseBlankLines(text.String())
}

// collapseBlankLines keeps one of several empty lines, which templates produce.
func collapseBlankLines(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text) + "\n"
}

func storyRows(run journal.Run, stories []plan.Story) []storyRow {
	all := make([]storyRow, 0, len(stories))
	for _, s := range stories {
		all = append(all, newStoryRow(run, s))
	}
	return all
}

func newStoryRow(run journal.Run, s plan.Story) storyRow {
	proof, _ := run.StoryProof(s.ID)
	row := storyRow{
		Story:    s,
		Name:     "**" + escapeEmphasis.Replace(clean.Inline(s.ID, 80)) + "** " + clean.Inline(s.Title, 160),
		Criteria: criteriaCells(s, verdict.CriterionTests(s, proof), run.Planning.Added),
		Test:     storyTests(run, s),
		Commit:   "–",
	}
	cost := 0.0
	isKnown := true
	for _, it := range run.Iterations {
		if it.Story != s.ID {
			continue
		}
		row.Iterations++
		row.Active = it.Ended == nil && run.Stop == nil
		if row.Active || it.Agent == nil {
			continue // its result is not known yet
		}
		cost += it.Agent.Cost.USD
		isKnown = isKnown && it.Agent.Cost.Known
		if it.Taken == nil {
			continue
		}
		if it.Taken.To != it.Taken.From {
			row.Commit = "`" + shortSHA(it.Taken.To) + "`"
		}
		if len(it.Taken.Files) > 0 { // its text may contradict earlier ones
			row.Said = clean.Inline(agentTags.ReplaceAllString(it.Agent.Words, " "), 300)
		}
	}
	row.Cost = CostText(cost, isKnown)
	row.Sign = rowSign(run, row)
	return row
}

// agentTags matches text for ralph, not for people.
var agentTags = pattern.Of(`(?s)<(?:promise|response|question)>.*?</(?:promise|response|question)>`)

func checkMark(run journal.Run, check journal.CheckEnded) string {
	switch {
	case check.Where == journal.AtNewTests: // the tests must fail there
		return "➖"
	case check.Flaky:
		return warnSign
	case check.Passed:
		return "✅"
	case check.Where != journal.AtBase && verdict.BlocksStory(run, check):
		return "❌"
	}
	return "➖"
}

func shortSHA(sha string) string { return sha[:min(len(sha), 7)] }

// CostText returns dollars, or that they are unknown.
func CostText(usd float64, known bool) string {
	if !known && usd == 0 {
		return "unknown"
	}
	text := fmt.Sprintf("$%.2f", usd)
	if !known {
		return "at least " + text
	}
	return text
}

// namedCost is CostText for places that need the word "cost".
func namedCost(usd float64, known bool) string {
	return pick(!known && usd == 0, "cost ", "") + CostText(usd, known)
}

// Plural returns n with the singular or plural of a word.
func Plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(word, "y"))
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// listedNotes returns the newest notes of a run, each once: a resumed run repeats some.
func listedNotes(run journal.Run) []journal.Noted {
	var all []journal.Noted
	for _, note := range run.Notes {
		if !slices.Contains(all, note) {
			all = append(all, note)
		}
	}
	return all[max(len(all)-maxListed, 0):]
}
