package report

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"
	"sync"
	markdown "text/template"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/templates"
)

type page struct {
	Title      string
	Heading    string
	Outcome    mark
	Text       template.HTML // its Markdown
	Change     template.HTML // the body of the pull request; empty without stories and pull request
	Pull       string        // URL of the pull request
	Comment    string        // Markdown
	Failed     []iteration
	More       int    // iterations with failures that are not listed
	Times      string // of the whole run, by phase
	Idle       string // time without a process
	Before     []foldedText
	Iterations []iteration // those in full
	Left       string      // a text about iterations that are left out
	Facts      []fact
	Events     int
}

type fact struct{ Name, Value string }

// Limits of lists. The page has the number of items that are left out.
const (
	maxFailed     = 30
	maxIterations = 60
)

// Templates are parsed when first needed.
var (
	htmlTemplates = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").ParseFS(templates.Files, "report/report.html", "report/style.css"))
	})
	markdownTemplates = sync.OnceValue(func() *markdown.Template {
		return markdown.Must(markdown.New("").Funcs(markdown.FuncMap{
			"cell": func(s string) string { return clean.Inline(s, 300) },
		}).ParseFS(templates.Files, "report/report.md"))
	})
)

// page returns the content of a page. Only a page in full has the texts of iterations.
func (s Source) page(segments []segment, run journal.Run, inFull bool) page {
	headline, _ := view.Gist(run, s.Abandoned)
	p := page{
		Title:   view.WithoutMarkup(headline),
		Heading: cmp.Or(s.line(run.Task.Title, 200), "A run of ralph"),
		Outcome: outcomeOf(run, s.Abandoned),
		Comment: s.comment(run),
		Facts:   s.facts(run),
		Events:  len(s.Entries),
	}
	if run.Published.Pull != nil {
		p.Pull = run.Published.Pull.URL
	}
	if inFull {
		p.Before = s.checkLogs(segments[0])
	}
	p.addIterations(s, segments, run, inFull)
	return p
}

// markdown returns the text at the top of the page.
func (p page) markdown() (string, error) {
	var out strings.Builder
	if err := markdownTemplates().ExecuteTemplate(&out, "report.md", p); err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}
	return out.String(), nil
}

// changeText returns the body of the pull request, without markers and without the repository's own template.
func changeText(run journal.Run) string {
	if len(run.Plan.UserStories) == 0 && run.Published.Pull == nil {
		return ""
	}
	run.Form = ""
	_, text, _ := strings.Cut(view.Of(run).Pull.Body, "\n") // the markers
	return text
}

// addIterations adds the newest iterations, and the first with failures.
func (p *page) addIterations(s Source, segments []segment, run journal.Run, inFull bool) {
	var sums phaseTimes
	full := max(len(segments)-maxIterations, 1)
	for i, c := range segments {
		for phase, took := range c.times {
			sums[phase] += took
		}
		it := s.iterationOf(c, run, inFull && i >= full)
		switch {
		case len(it.Faults) > 0 && len(p.Failed) == maxFailed:
			p.More++
		case len(it.Faults) > 0:
			p.Failed = append(p.Failed, it)
		}
		if i >= full {
			p.Iterations = append(p.Iterations, it)
		}
	}
	p.Times = sums.String()
	if idle := sums[phaseIdle]; idle > 0 {
		p.Idle = policy.FormatDuration(idle)
	}
	if older := full - 1; older > 0 {
		p.Left = view.Plural(older, "earlier iteration") + " left out; the journal has all of them"
	}
}

// comment returns the comment of the run, below its end if the run was abandoned.
func (s Source) comment(run journal.Run) string {
	text := strings.TrimSpace(view.Comment(run))
	if s.Abandoned {
		headline, next := view.Gist(run, true)
		text = "❗ **" + headline + "**\n\n**Next:** " + next + ".\n\n" + text
	}
	return text
}

// Good reports whether the run succeeded.
func (p page) Good() bool { return p.Outcome == good }

func outcomeOf(run journal.Run, abandoned bool) mark {
	switch {
	case abandoned:
		return poor
	case run.Stop == nil, run.Stop.Reason.Status() == policy.StatusWaiting:
		return open
	case run.Stop.Reason.Status() != policy.StatusCompleted:
		return poor
	case len(run.Plan.UserStories) > 0 && !verdict.IsWorkProven(run):
		return poor
	}
	return good
}

func (s Source) facts(run journal.Run) []fact {
	commit := strings.TrimSpace(run.Branch + " " + shortSHA(run.Base) + "…" + shortSHA(run.Head))
	if run.Head == "" {
		commit = run.Branch
	}
	var all []fact
	for _, f := range []fact{
		{"run", run.ID},
		{"agent", strings.TrimSpace(run.Policy.Agent + " " + run.Policy.Model)},
		{"work", commit},
		{"began", utcTime(run.Clock.Began)},
		{"newest event", utcTime(run.Clock.Now)},
		{"tokens", view.Tokens(run.Spent.Usage)},
	} {
		if f.Value != "" {
			all = append(all, fact{f.Name, s.line(f.Value, 160)})
		}
	}
	return all
}

func shortSHA(sha string) string { return sha[:min(len(sha), 7)] }
