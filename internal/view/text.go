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
	fmt.Fprintf(&text, "%s: %s\n", run.ID, spoken(Headline(run)))
	for _, s := range stories(run) {
		mark := " "
		switch {
		case s.Proven:
			mark = "x"
		case s.Active:
			mark = ">"
		}
		fmt.Fprintf(&text, "[%s] %s %s%s\n", mark, one(s.ID), one(s.Title), strings.TrimSuffix(" "+s.Worth, " –"))
	}
	fmt.Fprintf(&text, "%s in %s, cost %s\n", plural(len(run.Iterations), "iteration"), policy.Short(run.Now.Sub(run.Began)), money(run.CostUSD, run.CostKnown))
	for _, said := range heard(run) {
		fmt.Fprintf(&text, "! %s\n", spoken(said))
	}
	if todo := Next(run); todo != "" {
		fmt.Fprintf(&text, "next: %s\n", spoken(todo))
	}
	return text.String()
}

// spoken is a page's words as a terminal has them: without what keeps a page
// from reading them as markup.
func spoken(text string) string {
	return html.UnescapeString(markup.Replace(escaped.ReplaceAllString(one(text), "$1")))
}

var (
	escaped = pattern.Of(`\\([[:punct:]])`)
	markup  = strings.NewReplacer("<code>", "`", "</code>", "`", "**", "")
)

// trim leaves out rows of what a page says beside its stories until it fits, the
// last first, and says how many. Each is a line of its own, so nothing is torn.
func trim(text string) string {
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
	return blank(strings.Join(lines, "\n"))
}

// forms are where GitHub looks for a template of pull requests, in the order in
// which they count; of a folder of them the first counts.
var forms = []*pattern.Pattern{
	pattern.Of(`(?i)^\.github/pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^\.github/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^docs/pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^docs/pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
	pattern.Of(`(?i)^pull_request_template(\.md|\.txt)?$`), pattern.Of(`(?i)^pull_request_template/([^/]*\.(md|txt)|[^/.]+)$`),
}

// Template is the repository's own template for pull requests among its files.
// Empty: there is none.
func Template(files []string) string {
	for _, form := range forms {
		if i := slices.IndexFunc(files, form.MatchString); i >= 0 {
			return files[i]
		}
	}
	return ""
}

// hiddenText is for those who fill a template in; ours could be looked for among it.
var hiddenText = pattern.Of(`(?s)<!--.*?(?:-->|$)`)

// Cautions are the blocks of Markdown in which the comment says what people
// should look at.
func Cautions(run journal.Run) string {
	return strings.TrimSpace(was(run) + "\n\n" + fill("cautions.md", page{Run: run}))
}

// Comment is the progress comment without the mark by which it is found again.
func Comment(run journal.Run) string {
	_, text, _ := strings.Cut(Of(run).Comment, "\n")
	return text
}

// Columns are those of the comment's table, behind the story.
func Columns() []string { return []string{"iterations", "checks", "proof", "commit", "cost"} }

// Cells are what its table says of a story, in the order of Columns; Markdown.
func Cells(run journal.Run, story plan.Story) []string {
	told := tell(run, story)
	return []string{strconv.Itoa(told.Iterations), told.Checks, told.Worth, told.Commit, told.Cost}
}

// Archived is a loop that is put away, for those who come upon it later.
type Archived struct {
	Name    string
	Plan    plan.Plan // as people and agents left it
	Started string    // a date; empty if unknown
	Date    string
	Run     *journal.Run // the newest one of the plan; nil where there is none
}

var archived = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("summary.md").Funcs(template.FuncMap{
		"cell":     func(s string) string { return clean.Inline(s, 160) },
		"code":     func(s string) string { return Code(s, 160) },
		"headline": func(r *journal.Run) string { return Headline(*r) },
		"plural":   plural,
		"spent":    Spent,
		"time":     func(r *journal.Run) string { return policy.Short(r.Now.Sub(r.Began)) },
	}).ParseFS(templates.Files, "archive/summary.md"))
})

// Summary is what summary.md says.
func (a Archived) Summary() (string, error) {
	var text strings.Builder
	if err := archived().Execute(&text, archiveData{a, a.stories()}); err != nil {
		return "", fmt.Errorf("write summary: %w", err)
	}
	return blank(text.String()), nil
}

// Done counts the stories that the plan calls passed.
func (a Archived) Done() int { return len(a.Plan.UserStories) - len(a.Plan.Open()) }

// archiveData is what the summary is filled in with.
type archiveData struct {
	Archived
	Stories []kept
}

// kept is a story of the plan, with what the run spent on it.
type kept struct {
	plan.Story
	Iterations string // or a dash
	Cost       string
}

func (a Archived) stories() []kept {
	all := make([]kept, 0, len(a.Plan.UserStories))
	for _, s := range a.Plan.UserStories {
		k := kept{Story: s, Iterations: "–", Cost: "–"}
		if a.Run != nil {
			told := tell(*a.Run, s)
			k.Iterations, k.Cost = strconv.Itoa(told.Iterations), told.Cost
		}
		all = append(all, k)
	}
	return all
}
