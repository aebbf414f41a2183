package view

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Text returns the progress comment for a terminal, without markup.
func Text(run journal.Run, abandoned bool) string {
	var text strings.Builder
	headline, todo := Gist(run, abandoned)
	fmt.Fprintf(&text, "%s: %s\n", run.ID, WithoutMarkup(headline))
	for _, s := range storyRows(run, run.Plan.UserStories) {
		mark := " "
		switch {
		case verdict.IsStoryProven(run, s.Story):
			mark = "x"
		case s.Active:
			mark = ">"
		}
		result := ""
		if proof, found := run.StoryProof(s.ID); found && s.Passes {
			result = ": " + proof.Result.Text()
		}
		fmt.Fprintf(&text, "[%s] %s %s%s\n", mark, oneLine(s.ID), oneLine(s.Title), result)
	}
	iterations := Plural(len(run.Iterations), "iteration")
	took := policy.FormatDuration(run.Clock.Now.Sub(run.Clock.Began))
	fmt.Fprintf(&text, "%s in %s, cost %s\n", iterations, took, CostText(run.Spent.CostUSD, run.Spent.CostKnown))
	for _, problem := range verdictProblems(run) {
		fmt.Fprintf(&text, "! %s\n", WithoutMarkup(problem))
	}
	if todo != "" {
		fmt.Fprintf(&text, "next: %s\n", WithoutMarkup(todo))
	}
	return text.String()
}

// WithoutMarkup returns Markdown that ralph wrote as plain text.
func WithoutMarkup(text string) string {
	return html.UnescapeString(markup.Replace(markdownEscape.ReplaceAllString(oneLine(text), "$1")))
}

var (
	markdownEscape = pattern.Of(`\\([[:punct:]])`)
	markup         = strings.NewReplacer("<code>", "`", "</code>", "`", "**", "")
)

// trimLists removes items of lists from the end until text fits, and adds their number.
func trimLists(text string) string {
	if len(text) <= maxText {
		return text
	}
	lines := strings.Split(text, "\n")
	size := len(text) + len("> … and 1000000 more\n\n")
	removed, top := 0, 0
	for i := len(lines) - 1; i >= 0 && size > maxText; i-- {
		if !strings.HasPrefix(lines[i], "> ") && !strings.HasPrefix(lines[i], "- ") {
			continue
		}
		size -= len(lines[i]) // the line break may stay
		lines[i] = ""
		removed++
		top = i
	}
	if removed == 0 {
		return text
	}
	lines[top] = fmt.Sprintf("\n> … and %d more\n", removed)
	return collapseBlankLines(strings.Join(lines, "\n"))
}

// pullTemplates match the paths of pull request templates, in GitHub's order.
var pullTemplates = []*pattern.Pattern{
	pattern.Of(`(?i)^\.github/pull_request_template(\.md|\.txt)?$`),
	pattern.Of(`(?i)^\.github/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^docs/pull_request_template(\.md|\.txt)?$`),
	pattern.Of(`(?i)^docs/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^pull_request_template(\.md|\.txt)?$`),
	pattern.Of(`(?i)^pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
}

// PullTemplate returns the path of the repository's own pull request template, if any.
func PullTemplate(files []string) string {
	for _, template := range pullTemplates {
		if i := slices.IndexFunc(files, template.MatchString); i >= 0 {
			return files[i]
		}
	}
	return ""
}

// htmlComment matches the hints of a template, which could look like a marker of ralph.
var htmlComment = pattern.Of(`(?s)<!--.*?(?:-->|$)`)

// Archive is a finished plan with its newest run, for summary.md.
type Archive struct {
	Name    string
	Plan    plan.Plan // its last state
	Started string    // a date; empty if unknown
	Date    string
	Run     *journal.Run // the newest run that worked on the plan; nil if there is none
}

// Summary returns the text of summary.md.
func (a Archive) Summary() string {
	run := cmp.Or(a.Run, &journal.Run{})
	return fillTemplate("summary.md", archiveData{a, storyRows(*run, a.Plan.UserStories)})
}

// Done returns how many stories passed according to the plan.
func (a Archive) Done() int { return len(a.Plan.UserStories) - len(a.Plan.Open()) }

type archiveData struct {
	Archive
	Stories []storyRow
}
