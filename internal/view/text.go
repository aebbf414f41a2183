package view

import (
	"fmt"
	"html"
	"path"
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
	fmt.Fprintf(&text, "%s: %s\n", run.ID, spoken(headline(run)))
	for _, s := range stories(run) {
		mark := " "
		switch {
		case s.Passes:
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
	if todo := next(run); todo != "" {
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
		if !spare(lines[i]) {
			continue
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

// spare tells of a row that is no story's.
func spare(line string) bool {
	return strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "- [")
}

// templateFolders are where GitHub looks for a template of pull requests, in
// the order in which they count.
var templateFolders = []string{".github", "docs", "."}

var hiddenText = pattern.Of(`(?s)<!--.*?(?:-->|$)`)

// Template is the repository's own template for pull requests among its files;
// of a folder of them the first. Empty: there is none.
func Template(files []string) string {
	for _, folder := range templateFolders {
		several := ""
		for _, file := range files {
			switch {
			case standsAs(file, folder, "pull_request_template"):
				return file
			case several == "" && strings.EqualFold(path.Dir(file), path.Join(folder, "pull_request_template")) && written(file):
				several = file
			}
		}
		if several != "" {
			return several
		}
	}
	return ""
}

// standsAs tells of a text of that name in a folder, in any case of letters.
func standsAs(file, folder, name string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.EqualFold(path.Dir(file), folder) && strings.TrimSuffix(base, path.Ext(base)) == name && written(file)
}

func written(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case "", ".md", ".txt":
		return true
	}
	return false
}

// form is a template as a pull request begins with it: without the hidden words
// for those who fill it in, among which ours could be looked for.
func form(template string) string {
	return strings.TrimSpace(hiddenText.ReplaceAllString(template, ""))
}

// Headline is the state of a run in one phrase of Markdown, as the comment has
// it: for pages that are made elsewhere and may not contradict it.
func Headline(run journal.Run) string { return headline(run) }

// Sum is what a run took, in one line.
func Sum(run journal.Run) string { return sum(run) }

// Next is the one thing to do now, in Markdown; empty while the run goes on by
// itself.
func Next(run journal.Run) string { return next(run) }

// Cautions are the blocks of Markdown in which the comment says what people
// should look at.
func Cautions(run journal.Run) string {
	return strings.TrimSpace(was(run) + "\n\n" + fill("comment/cautions.md", page{Run: run}))
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

// Verdict is how a check ended and what that is worth; Markdown.
func Verdict(run journal.Run, check journal.CheckEnded) string { return checkResult(run, check) }

// Spent is an amount of money where nothing around it says what it is.
func Spent(usd float64, known bool) string { return spent(usd, known) }

// Archived is a loop that is put away, for those who come upon it later.
type Archived struct {
	Name    string
	Plan    plan.Plan // as people and agents left it
	Started string    // a date; empty where nobody wrote it down
	Date    string
	Run     *journal.Run // the newest one of the plan; nil where there is none
}

var archived = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("summary.md").Funcs(template.FuncMap{
		"cell":     func(s string) string { return clean.Inline(s, 160) },
		"code":     func(s string) string { return Code(s, 160) },
		"headline": func(r *journal.Run) string { return headline(*r) },
		"plural":   plural,
		"spent":    spent,
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
