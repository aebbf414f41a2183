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
	Headline    []span
	Sum         string
	Next        []span
	Task        string
	Facts       []fact
	Pull        string // URL of the pull request
	Failed      []failedIteration
	More        int // iterations with failures that are not listed
	First       *foldedText
	Cautions    []block
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
	Begun  bool // false: before any iteration
	Number int
	Href   string
	Story  string
	Said   []string
	More   int
}

type checkRow struct {
	Command string
	Result  []span
	Exit    int
	Took    string
}

// Limits of lists. The page has the number of items that are left out.
const (
	maxFailed     = 30
	maxIterations = 60
	maxChecks     = 40
)

// Limits of parts of a page, in bytes. With the lists, a page has less than a megabyte.
const (
	roomForAll     = 560 << 10
	roomForOne     = 96 << 10
	roomForBefore  = 16 << 10
	roomForFailed  = 48 << 10
	roomForStories = 96 << 10
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

func (s Source) page() page {
	if len(s.Entries) == 0 && len(s.Exams) > 0 {
		return s.examPage()
	}
	chapters, run := s.segments(s.entries())
	passes := chapters[1:]
	passes = passes[max(len(passes)-maxIterations, 0):]
	for i := range passes {
		passes[i].hasLink = true
	}
	text, next := view.Gist(run, s.Abandoned)
	headline := spans(text)
	made := page{
		Title: spanText(headline), Outcome: outcomeOf(run, s.Abandoned), Headline: headline,
		Sum: view.Sum(run), Next: spans(next), Task: oneLine(run.Task.Title, 200),
		Facts: factsOf(run), Cautions: blocks(view.Cautions(run)),
		Columns:  view.StoryColumns(),
		Timeline: timelineOf(chapters), Before: s.checkLogs(chapters[0], roomForBefore),
		Events: len(s.Entries), Comment: s.comment(run), Exams: s.exams(),
	}
	if run.Pull != nil {
		made.Pull = run.Pull.URL
	}
	made.Stories, made.MoreStories = s.stories(run, chapters)
	made.Failed, made.More = s.failedIterations(chapters, run)
	made.First = s.firstFailedLog(chapters)
	made.Checks, made.Commit = s.proofChecks(run)
	for _, c := range passes {
		made.Iterations = append(made.Iterations, s.iterationOf(c, run, min(roomForOne, roomForAll/len(passes))))
	}
	if older := len(chapters) - 1 - len(passes); older > 0 {
		made.Left = view.Plural(older, "earlier iteration") + " left out; the journal has all of them"
	}
	return made
}

// comment returns the comment of the run, with an end if the run was abandoned.
func (s Source) comment(run journal.Run) string {
	text := strings.TrimSpace(view.Comment(run))
	if !s.Abandoned {
		return text
	}
	headline, next := view.Gist(run, true)
	return strings.Replace(text, view.Headline(run), headline, 1) + "\n\n**Next:** " + next + "."
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

func factsOf(run journal.Run) []fact {
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
			all = append(all, fact{f.Name, oneLine(f.Value, 160)})
		}
	}
	return all
}

func shortSHA(sha string) string { return sha[:min(len(sha), 7)] }

func (s Source) failedIterations(chapters []segment, run journal.Run) (all []failedIteration, more int) {
	for _, c := range chapters {
		faults := c.badLines()
		switch {
		case len(faults) == 0:
			continue
		case len(all) == maxFailed:
			more++
			continue
		}
		one := failedIteration{Begun: c.isIteration, Number: c.number, Href: c.href(), Story: storyName(run, c.story)}
		one.Said, one.More = firstThatFit(faults, roomForFailed/maxFailed, markupOfItem)
		all = append(all, one)
	}
	return all, more
}

func (s Source) firstFailedLog(chapters []segment) *foldedText {
	for _, c := range chapters {
		for _, m := range c.events {
			check, is := m.event.(journal.CheckEnded)
			if !is || len(m.badLines) == 0 {
				continue
			}
			log := s.checkLog(check, 2<<10)
			log.Title = m.badLines[0]
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
			oneLine(cmp.Or(check.Command, check.Name), 200), spans(view.ProofCheckText(run, check)), check.Exit, policy.FormatDuration(check.Took()),
		})
	}
	return all, shortSHA(proof.Commit)
}
