package view

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/templates"
)

// Text is a run for a terminal: the comment's words without its markup.
func Text(run journal.Run) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", run.ID, stripMarkup(Headline(run)))
	for _, s := range storyRows(run) {
		mark := " "
		switch {
		case s.Proven:
			mark = "x"
		case s.Active:
			mark = ">"
		}
		fmt.Fprintf(&text, "[%s] %s %s%s\n", mark, oneLine(s.ID), oneLine(s.Title), strings.TrimSuffix(" "+s.Proof, " –"))
	}
	fmt.Fprintf(&text, "%s in %s, cost %s\n", plural(len(run.Iterations), "iteration"), policy.Short(run.Now.Sub(run.Began)), costText(run.CostUSD, run.CostKnown))
	for _, said := range verdictProblems(run) {
		fmt.Fprintf(&text, "! %s\n", stripMarkup(said))
	}
	if todo := Next(run); todo != "" {
		fmt.Fprintf(&text, "next: %s\n", stripMarkup(todo))
	}
	return text.String()
}

// stripMarkup is a page's words as a terminal has them: without what keeps a page
// from reading them as markup.
func stripMarkup(text string) string {
	return html.UnescapeString(markup.Replace(markdownEscape.ReplaceAllString(oneLine(text), "$1")))
}

var (
	markdownEscape = pattern.Of(`\\([[:punct:]])`)
	markup         = strings.NewReplacer("<code>", "`", "</code>", "`", "**", "")
)

// trimLists leaves out rows of what a page says beside its stories until it fits, the
// last first, and says how many. Each is a line of its own, so nothing is torn.
func trimLists(text string) string {
	if len(text) <= Limit {
		return text
	}
	lines := strings.Split(text, "\n")
	size, gone, at := len(text)+len("> … and 1000000 more\n\n"), 0, 0
	for i := len(lines) - 1; i >= 0 && size > Limit; i-- {
		if line := lines[i]; !strings.HasPrefix(line, "> ") && (!strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "- [")) {
			continue // a story's row, or none
		}
		size -= len(lines[i]) // its line break stays, for the worst case
		lines[i], gone, at = "", gone+1, i
	}
	if gone == 0 {
		return text
	}
	lines[at] = fmt.Sprintf("\n> … and %d more\n", gone)
	return collapseBlankLines(strings.Join(lines, "\n"))
}

// pullTemplates are where GitHub looks for a template of pull requests, in the order in
// which they count; of a folder of them the first counts.
var pullTemplates = []*pattern.Pattern{
	pattern.Of(`(?i)^\.github/pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^\.github/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^docs/pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^docs/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
}

// PullTemplate is the repository's own template for pull requests among its files.
// Empty: there is none.
func PullTemplate(files []string) string {
	for _, form := range pullTemplates {
		if i := slices.IndexFunc(files, form.MatchString); i >= 0 {
			return files[i]
		}
	}
	return ""
}

// htmlComment is for those who fill a template in; ours could be looked for among it.
var htmlComment = pattern.Of(`(?s)<!--.*?(?:-->|$)`)

// Cautions are the blocks of Markdown in which the comment says what people
// should look at.
func Cautions(run journal.Run) string {
	return strings.TrimSpace(baselineCaution(run) + "\n\n" + fillTemplate("cautions.md", templateData{Run: run}))
}

// Comment is the progress comment without the mark by which it is found again.
func Comment(run journal.Run) string {
	_, text, _ := strings.Cut(Of(run).Comment, "\n")
	return text
}

// StoryColumns are those of the comment's table, behind the story.
func StoryColumns() []string { return []string{"iterations", "checks", "proof", "commit", "cost"} }

// StoryCells are what its table says of a story, in the order of Columns; Markdown.
func StoryCells(run journal.Run, story plan.Story) []string {
	told := newStoryRow(run, story)
	return []string{strconv.Itoa(told.Iterations), told.Checks, told.Proof, told.Commit, told.Cost}
}

// Archive is a loop that is put away, for those who come upon it later.
type Archive struct {
	Name    string
	Plan    plan.Plan // as people and agents left it
	Started string    // a date; empty if unknown
	Date    string
	Run     *journal.Run // the newest one of the plan; nil where there is none
}

var archiveTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("summary.md").Funcs(template.FuncMap{
		"cell":     func(s string) string { return clean.Inline(s, 160) },
		"code":     func(s string) string { return Code(s, 160) },
		"headline": func(r *journal.Run) string { return Headline(*r) },
		"plural":   plural,
		"spent":    CostText,
		"time":     func(r *journal.Run) string { return policy.Short(r.Now.Sub(r.Began)) },
	}).ParseFS(templates.Files, "archive/summary.md"))
})

// Summary is what summary.md says.
func (a Archive) Summary() (string, error) {
	var text strings.Builder
	if err := archiveTemplate().Execute(&text, archiveData{a, a.stories()}); err != nil {
		return "", fmt.Errorf("write summary: %w", err)
	}
	return collapseBlankLines(text.String()), nil
}

// Done counts the stories that the plan calls passed.
func (a Archive) Done() int { return len(a.Plan.UserStories) - len(a.Plan.Open()) }

// archiveData is what the summary is filled in with.
type archiveData struct {
	Archive
	Stories []archivedStory
}

// archivedStory is a story of the plan, with what the run spent on it.
type archivedStory struct {
	plan.Story
	Iterations string // or a dash
	Cost       string
}

func (a Archive) stories() []archivedStory {
	all := make([]archivedStory, 0, len(a.Plan.UserStories))
	for _, s := range a.Plan.UserStories {
		k := archivedStory{Story: s, Iterations: "–", Cost: "–"}
		if a.Run != nil {
			told := newStoryRow(*a.Run, s)
			k.Iterations, k.Cost = strconv.Itoa(told.Iterations), told.Cost
		}
		all = append(all, k)
	}
	return all
}
