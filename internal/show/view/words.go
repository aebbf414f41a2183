package view

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// Headline returns the state of a run in one phrase.
func Headline(run journal.Run) string {
	if run.Stop != nil {
		return endHeadline(run)
	}
	it, open := run.OpenIteration()
	story := clean.Inline(it.Story, 80)
	switch {
	case isSessionLoop(run):
		return sessionHeadline(run)
	case run.Cancel != nil:
		return "stopping, work is being saved"
	case verdict.NeedsPlan(run):
		return "an agent makes a plan"
	case run.Baseline == nil && run.Policy.Baseline != "":
		return "running the checks before any work"
	case !open:
		return "working"
	case it.Paused && it.Agent != nil:
		return fmt.Sprintf("iteration %d, waiting until %s: %s",
			it.Number, utcClock(it.Wake), clean.Inline(it.Agent.Why, 200))
	case it.Agent == nil:
		return appendNonEmpty(fmt.Sprintf("iteration %d, agent at work", it.Number), " on ", story)
	}
	text := appendNonEmpty(fmt.Sprintf("iteration %d, checking", it.Number), " ", story)
	if it.Taken != nil && !isBlockedInTree(run, it) {
		text += " on a clean checkout"
	}
	return text
}

// isBlockedInTree reports whether a check blocks the work in the agent's own tree.
func isBlockedInTree(run journal.Run, it journal.Iteration) bool {
	return slices.ContainsFunc(it.Checks, func(c journal.CheckEnded) bool {
		return c.Where == journal.AtWork && verdict.BlocksStory(run, c)
	})
}

func endHeadline(run journal.Run) string {
	e := ending.Of(run)
	isReady := run.Published.Pull != nil && !run.Published.Pull.Draft
	switch {
	case e.Cause == nil && run.Stop.Reason == policy.AllStoriesPassed && isReady:
		return fmt.Sprintf("ready for review: #%d", run.Published.Pull.Number)
	case e.Cause == nil && run.Stop.Reason == policy.AllStoriesPassed:
		return "done, every story passed and the checks passed again on a clean checkout"
	case e.Cause == nil:
		text := string(run.Stop.Reason.Status()) + ", " + reasonText(run)
		return appendNonEmpty(text, ": ", clean.Inline(run.Stop.Why, 300))
	case e.Cause == ending.Unproven:
		return e.Headline + ": " + draftReason(run)
	}
	text := appendNonEmpty(e.Headline, ": ", clean.Inline(e.Why, 1000))
	switch run.Stop.Reason { //nolint:exhaustive // the others stopped short
	case policy.AllStoriesPassed:
		return "finished, but " + text
	case policy.NothingToDo:
		return text
	}
	if e.Cause == ending.Unapproved {
		return text
	}
	return string(run.Stop.Reason.Status()) + ", " + text
}

func reasonText(run journal.Run) string {
	text := cmp.Or(reasonTexts[run.Stop.Reason], string(run.Stop.Reason))
	switch {
	case run.Stop.Reason == policy.Waiting && isSessionLoop(run):
		return "Claude Code no longer allows ralph to continue the session"
	case run.Stop.Reason == policy.ResponseMatched && len(run.Policy.Checks) == 0:
		text = "the agent said that it is done, and no check was configured"
	case run.Stop.Reason == policy.PromiseAccepted && len(run.Policy.Checks) == 0:
		text = "the agent said that it is done, and no check ran"
	}
	if run.IsCompleted() && isEachTreeUnchanged(run) {
		text += "; no file was changed"
	}
	return text
}

// isEachTreeUnchanged reports whether the files after each iteration are those that the run found.
func isEachTreeUnchanged(run journal.Run) bool {
	if run.Work == "" {
		return false
	}
	for _, it := range run.Iterations {
		if it.Taken == nil || it.Taken.Work != run.Work {
			return false
		}
	}
	return true
}

var reasonTexts = map[policy.Reason]string{
	policy.AllChecksPassed: "all checks passed",
	policy.ResponseMatched: "the checks passed and the agent said that it is done",
	policy.PromiseAccepted: "the checks passed and the agent said that it is done",
	policy.DoneFile:        "the agent left its DONE file",
	policy.Waiting:         "the agent asked to wait",
}

// baselineCaution returns how the checks at the base limit the proof. It reports missing checks before the baseline.
func baselineCaution(run journal.Run) string {
	noChecks := len(run.Policy.Checks) == 0 && run.Policy.Baseline != "" && run.Stop == nil
	switch {
	case run.Baseline == nil && noChecks:
		return unverifiableText(run, "no checks are configured")
	case run.Baseline == nil || run.Baseline.Why == "":
		return ""
	case run.Baseline.Usable:
		return "Before any work: " + clean.Inline(run.Baseline.Why, 500) + "." + remedySentence(run)
	}
	return unverifiableText(run, run.Baseline.Why)
}

func unverifiableText(run journal.Run, why string) string {
	text := "**Nothing can be verified:** " + clean.Inline(why, 500) + "."
	if opensPull(run) {
		text += " The pull request will stay a draft."
	}
	return text + remedySentence(run)
}

func remedySentence(run journal.Run) string {
	remedy := ending.BaseRemedy(run)
	if remedy == "" || run.Stop != nil { // then Next has the remedy
		return ""
	}
	return " To change that: " + remedy + "."
}

// verdictProblems returns the BadLines of the newest verdict and of the events that it judged, as Markdown.
func verdictProblems(run journal.Run) []string {
	it, found := run.LastJudged()
	if !found {
		return nil
	}
	events := []journal.Event{*it.Ended}
	if it.Agent != nil {
		events = append(events, *it.Agent)
	}
	if it.Read != nil {
		events = append(events, *it.Read)
	}
	if it.Taken != nil {
		events = append(events, *it.Taken)
	}
	var lines []string
	for _, event := range events {
		for _, text := range BadLines(run, event) {
			lines = append(lines, escapeLineStart(text, 400))
		}
	}
	return firstFew(lines)
}

// blockMarkup matches the start of a line that Markdown takes for a list, a heading or a quote.
var blockMarkup = pattern.Of(`^(?:[-+*#>=~_]|\[|[0-9]+[.)])`)

// escapeLineStart makes foreign text safe at the start of a line of Markdown.
func escapeLineStart(text string, limit int) string {
	text = clean.Inline(text, limit)
	if found := blockMarkup.FindString(text); found != "" {
		end := len(found) - 1
		text = text[:end] + `\` + text[end:]
	}
	return text
}

const maxListed = 20 // items of a list; lists stay when render leaves out stories

// first returns the items of a list that are shown.
func first(list any) any {
	all := reflect.ValueOf(list)
	return all.Slice(0, min(all.Len(), maxListed)).Interface()
}

// newest returns the items at the end of a list that are shown.
func newest(list any) any {
	all := reflect.ValueOf(list)
	return all.Slice(max(all.Len()-maxListed, 0), all.Len()).Interface()
}

// more returns how many items are not shown.
func more(list any) int { return max(reflect.ValueOf(list).Len()-maxListed, 0) }

func firstFew(all []string) []string {
	if len(all) <= maxListed {
		return all
	}
	return append(all[:maxListed:maxListed], fmt.Sprintf("… and %d more", len(all)-maxListed))
}

const hiddenMarker = "<!--" // begins ralph's hidden markers; foreign text must not have one, even in code

func defuseMarkers(text string) string { return strings.ReplaceAll(text, hiddenMarker, "<! --") }

// Code returns foreign text as code on one line, also for a table cell. A backtick or a pipe would end the span or
// cell even if escaped, so it is written as HTML.
func Code(text string, limit int) string {
	text, removed := clean.Plain(text, limit)
	if removed[clean.Cut] > 0 {
		text += "…"
	}
	if text != "" && !strings.ContainsAny(text, "`|") && !strings.Contains(text, hiddenMarker) {
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
