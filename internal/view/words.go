package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Headline is the state of a run in one phrase.
func Headline(run journal.Run) string {
	if run.Stop != nil {
		return ended(run)
	}
	it, open := run.Open()
	switch {
	case inSession(run):
		return session(run)
	case run.Cancel != nil:
		return "stopping, work is being saved"
	case verdict.Unplanned(run):
		return "an agent makes a plan of it"
	case run.Baseline == nil && run.Policy.Baseline != "":
		return "looking at what the checks say before any work"
	case !open:
		return "working"
	case it.Paused:
		return fmt.Sprintf("iteration %d, waiting until %s: %s", it.Number, clock(it.Wake), clean.Inline(it.Agent.Why, 200))
	case it.Agent == nil:
		return fmt.Sprintf("iteration %d, agent at work", it.Number) + about(" on ", it.Story)
	case it.Taken != nil && !slices.ContainsFunc(it.Checks, func(c journal.CheckEnded) bool { return c.Where == journal.AtWork && verdict.Holds(run, c) }):
		return fmt.Sprintf("iteration %d, checking", it.Number) + about(" ", it.Story) + " on a clean checkout"
	}
	return fmt.Sprintf("iteration %d, checking", it.Number) + about(" ", it.Story)
}

// about names a story, where a run has any.
func about(before, story string) string {
	if story == "" {
		return ""
	}
	return before + story
}

func ended(run journal.Run) string {
	switch {
	case run.Stop.Reason == policy.AllStoriesPassed && !verified(run):
		return "finished, but nothing was verified"
	case run.Stop.Reason == policy.AllStoriesPassed && len(unverified(run)) > 0:
		return "finished, but no check could verify " + clean.Inline(journal.Few(unverified(run)), 300)
	case run.Stop.Reason == policy.AllStoriesPassed:
		return "done, every story passed and the checks passed again on a clean checkout"
	case run.Stop.Reason == policy.NothingToDo && run.Stop.Why != "":
		return "there was nothing to do: " + clean.Inline(run.Stop.Why, 300)
	case run.Stop.Reason == policy.NothingToDo:
		return "there was nothing to do: the agent says all stories hold already, and no file changed"
	}
	if verdict.Unapproved(run) {
		return "planned, nothing is worked on before somebody approves this"
	}
	text := reason(run)
	if run.Stop.Why != "" {
		text += ": " + clean.Inline(run.Stop.Why, 300)
	}
	return string(run.Stop.Reason.Status()) + ", " + text
}

// reason is why the run stopped, and no more than is known of it.
func reason(run journal.Run) string {
	text := cmp.Or(reasons[run.Stop.Reason], string(run.Stop.Reason))
	switch waits := run.Stop.Reason == policy.Waiting; {
	case waits && inSession(run):
		return "Claude Code lets the session be sent back to work no more"
	case waits && run.Policy.Done != policy.ByFile:
		return "the model cannot be asked for now"
	case run.Stop.Reason == policy.ResponseMatched && len(run.Policy.Checks) == 0:
		text = "the agent gave the word, and no check was configured"
	}
	if run.Completed() && run.Work != "" && !slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Taken == nil || it.Taken.Work != run.Work
	}) {
		text += "; no file was changed"
	}
	return text
}

// unverified are the stories of which no check could tell anything.
func unverified(run journal.Run) []string {
	var ids []string
	for _, story := range verdict.Unproven(run) {
		if graded, found := run.GradeOf(story.ID); !found || graded.Grade == journal.Unverified {
			ids = append(ids, story.ID)
		}
	}
	return ids
}

func verified(run journal.Run) bool {
	_, is := verdict.Proven(run)
	return is
}

// reasons are the stop reasons as people say them.
var reasons = map[policy.Reason]string{
	policy.AllChecksPassed:    "all checks passed",
	policy.ResponseMatched:    "the checks passed and the agent gave the word",
	policy.PromiseAccepted:    "the agent gave its promise, and no check ran",
	policy.DoneFile:           "the agent left its DONE file",
	policy.Waiting:            "the agent asked to wait",
	policy.MaxIterations:      "out of iterations",
	policy.BudgetExhausted:    "out of budget",
	policy.Timeout:            "out of time",
	policy.Stalled:            "no progress any more",
	policy.Cancelled:          "by request",
	policy.VerificationFailed: "the checks failed on a clean checkout",
	policy.FatalError:         "something broke",
	policy.NothingToDo:        "there was nothing to do",
	policy.NeedsInput:         "a question is open",
}

// was tells what the checks said before any work, where that limits what can
// be shown, and what to do about it. That there is none is known before they run.
func was(run journal.Run) string {
	none := len(run.Policy.Checks) == 0 && run.Policy.Baseline != "" && run.Stop == nil
	switch {
	case run.Baseline == nil && none:
		return unverifiable(run, "no checks are configured")
	case run.Baseline == nil:
		return stuck(run)
	case run.Baseline.Why == "":
		return ""
	case run.Baseline.Usable:
		return "Before any work: " + clean.Inline(run.Baseline.Why, 500) + "." + mended(run)
	}
	return unverifiable(run, run.Baseline.Why)
}

func unverifiable(run journal.Run, why string) string {
	text := "**Nothing can be verified:** " + clean.Inline(why, 500) + "."
	if run.Policy.Publish && !run.Policy.NoPull {
		text += " The pull request will stay a draft."
	}
	return text + mended(run)
}

// mended is the remedy as a sentence of its own.
func mended(run journal.Run) string {
	remedy := Mend(run)
	if remedy == "" {
		return ""
	}
	return " To change that: " + remedy + "."
}

// heard is what the newest verdict found wrong, for people.
func heard(run journal.Run) []string {
	it, found := run.Last()
	if !found {
		return nil
	}
	var said []string
	if it.Agent != nil && it.Agent.Failed {
		said = append(said, "the agent did not end well: "+clean.Inline(it.Agent.Why, 300))
	}
	for _, rejected := range it.Ended.Rejected {
		said = append(said, fmt.Sprintf("claim %s rejected: %s", Code(rejected.Claim, 80), clean.Inline(rejected.Why, 300)))
	}
	if it.Read != nil {
		for _, what := range it.Read.Undone {
			said = append(said, "put back in the plan: "+clean.Inline(what, 300))
		}
		if it.Read.Cut {
			said = append(said, logMended)
		}
	}
	if it.Taken == nil {
		return few(said)
	}
	for _, path := range it.Taken.Dropped {
		said = append(said, "protected file put back: "+Code(path, 200))
	}
	if len(it.Taken.Huge) > 0 {
		said = append(said, leftOut+clean.Inline(journal.Few(it.Taken.Huge), 300))
	}
	for _, finding := range it.Taken.Refused {
		said = append(said, "commits refused: "+clean.Inline(blamed(finding), 300))
	}
	return few(said)
}

// blamed is a finding with the file it is about, where it is about one.
func blamed(finding journal.Finding) string {
	if finding.Path == "" {
		return finding.Why
	}
	return finding.Path + ": " + finding.Why
}

// block is what would make a list, a heading, a quote or a box to tick of a
// text that stands where a line begins.
var block = pattern.Of(`^(?:[-+*#>=~_]|\[|[0-9]+[.)])`)

// leading is text fit to begin a line with.
func leading(text string, most int) string {
	text = clean.Inline(text, most)
	if found := block.FindString(text); found != "" {
		end := len(found) - 1
		text = text[:end] + `\` + text[end:]
	}
	return text
}

// most is how much of a list is shown that no story can be cut to make room
// for.
const most = 20

func few(all []string) []string {
	if len(all) <= most {
		return all
	}
	return append(all[:most:most], fmt.Sprintf("… and %d more", len(all)-most))
}

// marker is how our own hidden markers begin: text of others must not hold
// one even in code, as those who look for them do not read Markdown.
const marker = "<!--"

// Code is text as code on one line, a table's cell included. A code span is
// left by a backtick and a cell by a pipe, whatever stands before them, so
// text with one of these is written as HTML with nothing left to interpret.
func Code(text string, limit int) string {
	text, gone := clean.Plain(text, limit)
	if gone.Cut > 0 {
		text += "…"
	}
	if text != "" && !strings.ContainsAny(text, "`|") && !strings.Contains(text, marker) {
		return "`" + text + "`"
	}
	var out strings.Builder
	for _, r := range text {
		if r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' {
			fmt.Fprintf(&out, "&#%d;", r)
			continue
		}
		out.WriteRune(r)
	}
	return "<code>" + out.String() + "</code>"
}
