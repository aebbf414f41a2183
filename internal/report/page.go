package report

import (
	"cmp"
	"html/template"
	"strings"
	"sync"
	markdown "text/template"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/templates"
)

type page struct {
	Title       string
	Outcome     mark
	Headline    template.HTML
	Sum         string
	Next        template.HTML
	Task        string
	Facts       []fact
	Pull        string // URL of the pull request
	Failed      []failedIteration
	More        int // iterations with failures that are not listed
	First       *foldedText
	Cautions    template.HTML
	Columns     []string
	Stories     []storyRow
	MoreStories int
	Checks      []checkRow
	Commit      string // the commit that the checks ran on
	Timeline    timeline
	Before      []foldedText
	Iterations  []iteration
	Left        string // a text about iterations that are left out
	Events      int
	Comment     string // Markdown
	Exams       []Exam
}

type fact struct{ Name, Value string }

type failedIteration struct {
	place
	Said []string
	More int
}

// place is the part of a run to which a row of the page belongs.
type place struct {
	Begun  bool // false: before any iteration
	Number int
	Href   string
	Story  string
}

type checkRow struct {
	Command string
	Result  template.HTML
	Exit    int
	Took    string
}

// Limits of lists. The page has the number of items that are left out.
const (
	maxFailed     = 30
	maxIterations = 60
	maxChecks     = 40
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

func (s Source) page(segments []segment, run journal.Run) page {
	if len(s.Entries) == 0 && len(s.Exams) > 0 {
		return s.examPage()
	}
	passes := segments[1:]
	passes = passes[max(len(passes)-maxIterations, 0):]
	for i := range passes {
		passes[i].hasLink = true
	}
	text, next := view.Gist(run, s.Abandoned)
	made := page{
		Title: view.WithoutMarkup(text), Outcome: outcomeOf(run, s.Abandoned), Headline: phrase(text),
		Sum: view.Sum(run), Next: phrase(next), Task: s.line(run.Task.Title, 200),
		Facts: s.facts(run), Cautions: paragraphs(view.Cautions(run)),
		Columns:  view.StoryColumns(),
		Timeline: s.timeline(segments), Before: s.checkLogs(segments[0]),
		Events: len(s.Entries), Comment: s.comment(run), Exams: s.exams(),
	}
	if run.Pull != nil {
		made.Pull = run.Pull.URL
	}
	made.Stories, made.MoreStories = s.stories(run, segments)
	made.Failed, made.More = s.failedIterations(segments, run)
	made.First = s.firstFailedLog(segments)
	made.Checks, made.Commit = s.proofChecks(run)
	for _, c := range passes {
		made.Iterations = append(made.Iterations, s.iterationOf(c, run))
	}
	if older := len(segments) - 1 - len(passes); older > 0 {
		made.Left = view.Plural(older, "earlier iteration") + " left out; the journal has all of them"
	}
	return made
}

// comment returns the comment of the run, below its end if the run was abandoned.
func (s Source) comment(run journal.Run) string {
	text := strings.TrimSpace(view.Comment(run))
	if s.Abandoned {
		headline, next := view.Gist(run, true)
		text = "**ralph: " + headline + "**\n\n**Next:** " + next + ".\n\n" + text
	}
	return text
}

// Good reports whether the run succeeded. Then the page shows failures last.
func (p page) Good() bool { return p.Outcome == good }

func outcomeOf(run journal.Run, abandoned bool) mark {
	switch {
	case abandoned:
		return poor
	case run.Stop == nil, run.Stop.Reason.Status() == policy.StatusWaiting:
		return open
	case run.Stop.Reason.Status() != policy.StatusCompleted, len(run.Plan.UserStories) > 0 && !verdict.IsWorkProven(run):
		return poor
	}
	return good
}

func (s Source) facts(run journal.Run) []fact {
	commit := strings.TrimSpace(run.Branch + " " + shortSHA(run.Base) + "…" + shortSHA(run.Head))
	if run.Head == "" {
		commit = run.Branch
	}
	tokens := ""
	if run.Usage.Tokens() > 0 {
		tokens = view.Tokens(run.Usage)
	}
	continued := ""
	if run.Resumed > 0 {
		continued = view.Plural(run.Resumed, "time")
	}
	var all []fact
	for _, f := range []fact{
		{"run", run.ID},
		{"agent", strings.TrimSpace(run.Policy.Agent + " " + run.Policy.Model)},
		{"work", commit},
		{"sandbox level", run.Level},
		{"began", utcTime(run.Began)},
		{"newest event", utcTime(run.Now)},
		{"continued", continued},
		{"tokens", tokens},
		{"through the sandbox", view.Traffic(run)},
	} {
		if f.Value != "" {
			all = append(all, fact{f.Name, s.line(f.Value, 160)})
		}
	}
	return all
}

func shortSHA(sha string) string { return sha[:min(len(sha), 7)] }

func (s Source) failedIterations(segments []segment, run journal.Run) (all []failedIteration, more int) {
	for _, c := range segments {
		faults := c.badLines()
		switch {
		case len(faults) == 0:
			continue
		case len(all) == maxFailed:
			more++
			continue
		}
		one := failedIteration{place: place{c.isIteration, c.number, c.href(), s.storyName(run, c.story)}}
		one.Said, one.More = firstFew(s.lines(faults))
		all = append(all, one)
	}
	return all, more
}

func (s Source) firstFailedLog(segments []segment) *foldedText {
	for _, c := range segments {
		for _, m := range c.events {
			check, is := m.event.(journal.CheckEnded)
			if !is || len(m.badLines) == 0 {
				continue
			}
			log := s.checkLog(check, s.limit)
			log.Title = s.line(m.badLines[0], maxLine)
			return &log
		}
	}
	return nil
}

func (s Source) proofChecks(run journal.Run) (all []checkRow, commit string) {
	proof, found := run.ProofOf(run.Tree)
	if !found {
		return nil, ""
	}
	for _, check := range proof.Checks[:min(len(proof.Checks), maxChecks)] {
		all = append(all, checkRow{
			s.line(cmp.Or(check.Command, check.Name), 200), phrase(view.ProofCheckText(run, check)), check.Exit, policy.FormatDuration(check.Took()),
		})
	}
	return all, shortSHA(proof.Commit)
}
