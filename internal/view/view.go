// Package view makes all texts that people see from the record: the comment,
// the summary, the pull request's text, a line of log, the JSON. Every one is a
// function of the run, so no two can disagree. It makes no calls.
package view

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/templates"
)

// Limit is the most characters GitHub takes for a comment or a body.
const Limit = 65536

// Board is everything people see of a run at one moment.
type Board struct {
	Run     string
	Comment string // the progress comment, marker included
	Summary string // the job's summary
	Pull    Pull
	Stopped bool
	State   State
}

// Pull is what the pull request says.
type Pull struct {
	Number int // 0 while there is none
	Title  string
	Body   string
}

// Of shows run as it stands.
func Of(run journal.Run) Board {
	comment := marked(render("progress.md", run))
	return Board{
		Run:     run.ID,
		Comment: comment + boxes(run, Limit-len(comment)),
		Summary: comment,
		Pull:    pull(run),
		Stopped: run.Stop != nil,
		State:   stateOf(run),
	}
}

// Planned is the plan as the comment shows it, between two empty lines.
func Planned(run journal.Run) string {
	_, text, _ := strings.Cut(Of(run).Comment, "\n\n") // the headline
	text, _, _ = strings.Cut(text, "\n\n")
	return text
}

// marked is a comment with no hidden mark but those of its first line: text of
// others may hold one in code, where it is text to a reader, and not to those who
// look for marks.
func marked(comment string) string {
	marks, text, _ := strings.Cut(comment, "\n")
	return marks + "\n" + strings.ReplaceAll(text, marker, "<! --")
}

// page is what every text is filled in with.
type page struct {
	journal.Run
	Stories []story
	More    int // stories left out for want of room
}

// story is a story with what the run made of it.
type story struct {
	plan.Story
	Iterations int
	Checks     string
	Commit     string
	Cost       string
	Worth      string
	Said       string // the last words of the agent that worked on it last; Markdown
	Files      string // that its commits change; Markdown
	Active     bool
	Proven     bool

	files []string
}

// render fills in a text. What does not fit is cut by whole stories, so that
// no markup is ever torn.
func render(name string, run journal.Run) string {
	all := stories(run)
	for shown := len(all); ; shown = shown * 3 / 4 {
		text := fill(name, page{Run: run, Stories: all[:shown], More: len(all) - shown})
		if len(text) <= Limit || shown == 0 {
			return trim(text)
		}
	}
}

// texts are read when the first is needed: most of what the program is started
// for shows none.
var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"cell":     func(s string) string { return clean.Inline(s, 160) },
		"code":     func(s string) string { return Code(s, 160) },
		"short":    short,
		"headline": Headline,
		"count":    standing,
		"kept":     shelved,
		"vouches":  vouches,
		"first":    func(s string) string { return leading(s, 160) },
		"wanted":   func(s string) string { return leading(s, 2000) }, // nearly all of what people are to say yes to
		"name":     func(s string) string { return unstarred.Replace(clean.Inline(s, 80)) },
		"heard":    heard,
		"failures": failures,
		"notes":    func(r journal.Run) []journal.Noted { return r.Notes[max(len(r.Notes)-most, 0):] },
		"refused":  refused,
		"traffic": func(r journal.Run) string {
			return traffic(r.Traffic, func(host string) string { return Code(host, 100) })
		},
		"was":        was,
		"next":       Next,
		"patch":      folded,
		"plural":     plural,
		"time":       elapsed,
		"spent":      Spent,
		"link":       link,
		"proof":      proof,
		"verdict":    Verdict,
		"took":       func(c journal.CheckEnded) string { return policy.Short(c.Took()) },
		"doubts":     doubts,
		"restored":   restored,
		"proposals":  proposals,
		"loose":      loose,
		"flaky":      flaky,
		"before":     redBefore,
		"proofs":     proofs,
		"unproven":   unproven,
		"touched":    touched,
		"existing":   existing,
		"watch":      unsettled,
		"opinions":   opinions,
		"joins":      joins,
		"asleep":     asleep,
		"form":       func(s string) string { return strings.TrimSpace(hiddenText.ReplaceAllString(s, "")) },
		"trailers":   func(r journal.Run) []string { return r.Trailers("") },
		"criteria":   criteria,
		"changed":    changed,
		"summed":     summed,
		"unapproved": verdict.NeedsApproval,
	}).ParseFS(templates.Files, "comment/progress.md", "comment/cautions.md", "pull/body.md"))
})

// unstarred makes text fit to stand between asterisks.
var unstarred = strings.NewReplacer(`\*`, `\*`, `\_`, `\_`, "*", `\*`, "_", `\_`)

func fill(name string, p page) string {
	var text strings.Builder
	if err := texts().ExecuteTemplate(&text, name, p); err != nil {
		return fmt.Sprintf("ralph could not write %s: %v", name, err)
	}
	return blank(text.String())
}

// blank takes out the lines a template leaves empty, but for one between
// paragraphs.
func blank(text string) string {
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	return strings.TrimSpace(text) + "\n"
}

func stories(run journal.Run) []story {
	all := make([]story, 0, len(run.Plan.UserStories))
	for _, s := range run.Plan.UserStories {
		all = append(all, tell(run, s))
	}
	return all
}

// tell gathers what the run's iterations did for one story.
func tell(run journal.Run, s plan.Story) story {
	told := story{Story: s, Checks: "–", Commit: "–", Worth: worth(run, s), Proven: verdict.IsStoryProven(run, s)}
	cost, known := 0.0, true
	for _, it := range run.Iterations {
		if it.Story != s.ID {
			continue
		}
		told.Iterations++
		if told.Active = it.Ended == nil && run.Stop == nil; told.Active {
			continue // what it comes to is known when it has ended
		}
		if it.Agent != nil {
			cost, known = cost+it.Agent.Cost.USD, known && it.Agent.Cost.Known
		}
		if len(it.Checks) > 0 {
			told.Checks = marks(run, it.Checks)
		}
		if it.Taken != nil && it.Taken.To != it.Taken.From {
			told.Commit = "`" + short(it.Taken.To) + "`"
		}
		told.does(it)
	}
	told.Cost = money(cost, known)
	return told
}

// does adds what an iteration changed, and what its agent says of that.
func (s *story) does(it journal.Iteration) {
	if it.Taken == nil || it.Agent == nil {
		return
	}
	for _, file := range it.Taken.Files {
		if !slices.Contains(s.files, file) {
			s.files = append(s.files, file)
		}
	}
	if len(it.Taken.Files) > 0 { // what was said of earlier work may hold no more
		s.Said = clean.Inline(tagged.ReplaceAllString(it.Agent.Words, " "), 300)
	}
	s.Files = paths(s.files)
}

// tagged are words to ralph, and none to people.
var tagged = pattern.Of(`(?s)<(?:promise|response|question)>.*?</(?:promise|response|question)>`)

// changed are the stories for which files were changed.
func changed(all []story) []story {
	return slices.DeleteFunc(slices.Clone(all), func(s story) bool { return s.Files == "" })
}

// marks is each check with how it ended.
func marks(run journal.Run, checks []journal.CheckEnded) string {
	words := make([]string, 0, len(checks))
	for _, check := range checks {
		words = append(words, mark(run, check)+" "+clean.Inline(check.Name, 40)+pick(check.Skipped != "", " (skipped)", ""))
	}
	return strings.Join(words, ", ")
}

func mark(run journal.Run, check journal.CheckEnded) string {
	switch {
	case check.Where == journal.AtTests: // that it fails there is as it should be
		return "➖"
	case check.Flaky:
		return warnSign
	case check.Passed:
		return "✅"
	case verdict.BlocksStory(run, check):
		return "❌"
	}
	return "➖"
}

func short(sha string) string { return sha[:min(len(sha), 7)] }

func money(usd float64, known bool) string {
	if !known && usd == 0 {
		return "unknown"
	}
	text := fmt.Sprintf("$%.2f", usd)
	if !known {
		return "at least " + text
	}
	return text
}

// Spent is money where nothing around it says what it is.
func Spent(usd float64, known bool) string {
	if !known && usd == 0 {
		return "cost unknown"
	}
	return money(usd, known)
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(word, "y"))
	}
	return fmt.Sprintf("%d %ss", n, word)
}
