package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// eventLine is one line about an event. Only terminals show the sign.
type eventLine struct{ indent, sign, text string }

func iterationLine(sign, text string) eventLine { return eventLine{"  ", sign, text} }

// Line returns the log lines of an event that run includes. The caller must clean them for its output.
func Line(run journal.Run, event journal.Event) string {
	var lines []string
	for _, line := range eventLines(run, event) {
		lines = append(lines, line.indent+line.text)
	}
	return strings.Join(lines, "\n")
}

// LineAndOutput adds the end of the output of a check or setup that failed, for logs that are all a person has of it:
// the folder of the whole output is temporary.
func LineAndOutput(run journal.Run, event journal.Event) string {
	lines := []string{Line(run, event)}
	for _, line := range failedOutput(event) {
		if !strings.HasPrefix(line, wholeOutput) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n    | ")
}

// failedOutput returns the end of what a check or setup said that failed. With a story's tests on the base, it should.
func failedOutput(event journal.Event) []string {
	switch e := event.(type) { //nolint:gochecksumtype // the others have no output
	case journal.CheckEnded:
		if e.Passed || e.Where == journal.AtNewTests {
			return nil
		}
		return failureLines(e)
	case journal.SetupEnded:
		if !e.Passed {
			return failureLines(journal.CheckEnded(e))
		}
	}
	return nil
}

const wholeOutput = "whole output: "

// failureLines returns the names of the failed tests, what the output says about them, and the file with all of it.
func failureLines(e journal.CheckEnded) []string {
	var lines []string
	if e.Tests != nil && len(e.Tests.Failing()) > 0 {
		lines = append(lines, "failed: "+terminalLine(e.Tests.FailureList()))
	}
	lines = append(lines, Tail(e.Excerpt)...)
	if strings.Contains(e.Log, "/") { // else its folder is temporary
		lines = append(lines, wholeOutput+terminalLine(e.Log))
	}
	return lines
}

// BadLines returns the lines of an event about something that went wrong. The end of a run has
// none, because the headline says how it stopped.
func BadLines(run journal.Run, event journal.Event) []string {
	if _, ok := event.(journal.RunStopped); ok {
		return nil
	}
	var all []string
	for _, line := range eventLines(run, event) {
		if line.sign == badSign || line.sign == warnSign {
			all = append(all, line.text)
		}
	}
	check, ok := event.(journal.CheckEnded)
	if ok && len(all) > 0 { // the event's own line also has the effect on the prompt
		return []string{checkText(run, "check", check)}
	}
	return all
}

// eventLines returns the lines of an event for log, console and comment.
func eventLines(run journal.Run, event journal.Event) []eventLine {
	supervised := run.Policy.Done == policy.ByFile
	switch e := event.(type) { //nolint:gochecksumtype // the others have one line
	case journal.EgressPassed:
		return trafficLines(run, e)
	case journal.PlanRead:
		return planLines(e)
	case journal.CommitsTaken:
		return commitLines(e)
	case journal.ProofEnded:
		return proofLines(run, e)
	case journal.IterationEnded:
		if !supervised {
			return verdictLines(run, e)
		}
	}
	line := singleLine(run, event)
	if supervised {
		if text, ok := supervisedText(run, event); ok {
			line.indent = ""
			line.text = text
		}
	}
	if line.text == "" {
		return nil
	}
	return []eventLine{line}
}

// singleLine returns the line of an event that has only one. Its text can be empty.
func singleLine(run journal.Run, event journal.Event) eventLine {
	switch e := event.(type) { //nolint:gochecksumtype // publishedLine has the others
	case journal.RunBegan:
		return eventLine{"", "🚀", runBeganText(e)}
	case journal.Resumed:
		text := "continuing run " + run.ID + ": " + oneLine(e.Why)
		return eventLine{"", "🚀", appendNonEmpty(text, ", sandbox level ", e.Level)}
	case journal.Noted:
		return eventLine{"", plainSign, appendNonEmpty("note: "+oneLine(e.What), " – ", oneLine(e.Hint))}
	case journal.PlanDrafted:
		return eventLine{"", draftSign(e), draftText(e)}
	case journal.BaselineEnded:
		return eventLine{"", pick(e.Usable && e.Why == "", goodSign, warnSign), baselineText(run, e)}
	case journal.IterationBegan:
		text := fmt.Sprintf("iteration %d", e.Number)
		return eventLine{"", plainSign, appendNonEmpty(text, ": ", oneLine(e.Story))}
	case journal.IterationEnded: // only of a supervised command
		return eventLine{sign: goodSign}
	case journal.RunStopped:
		return eventLine{"", stopSign(e), stopText(e)}
	case journal.TaskSettled:
		return eventLine{"", plainSign, taskSettledText(e)}
	case journal.EgressRefused:
		return iterationLine(warnSign, egressRefusedText(e))
	case journal.SetupEnded:
		return iterationLine(pick(e.Passed, goodSign, badSign), checkText(run, "setup", journal.CheckEnded(e)))
	case journal.CheckEnded:
		return iterationLine(checkMark(run, e), checkText(run, "check", e)+failActionText(run.Policy, e))
	case journal.AgentEnded:
		return iterationLine(pick(e.Failed, badSign, goodSign), agentText(e))
	case journal.StoryReviewed:
		sign := pick(e.Why == "" && len(e.Missed) == 0, goodSign, warnSign)
		return iterationLine(sign, "second opinion on "+reviewText(e))
	case journal.SCMEnded:
		return iterationLine(pick(e.Failed, badSign, goodSign), scmText(e))
	case journal.Paused:
		until := utcClock(run.Clock.Now.Add(e.Delay()))
		return iterationLine(waitSign, fmt.Sprintf("waiting %s, until %s", policy.FormatDuration(e.Delay()), until))
	}
	return publishedLine(run, event)
}

func draftSign(e journal.PlanDrafted) string {
	switch {
	case len(e.Stories) > 0:
		return goodSign
	case e.Question != "":
		return waitSign
	}
	return warnSign
}

func stopSign(e journal.RunStopped) string {
	switch e.Reason.Status() { //nolint:exhaustive // the others stopped short
	case policy.StatusCompleted:
		return goodSign
	case policy.StatusWaiting:
		return waitSign
	case policy.StatusFailed:
		return badSign
	}
	return "🛑"
}

// publishedLine returns the line of an event about branches, pull requests and comments.
func publishedLine(run journal.Run, event journal.Event) eventLine {
	line := eventLine{sign: plainSign}
	switch e := event.(type) { //nolint:gochecksumtype // the log does not mention the others
	case journal.Pushed:
		line.text = "pushed " + shortSHA(e.SHA) + " to " + e.Branch
		if run.Links.Repo == "" {
			line.text = "branch " + e.Branch + " is at " + shortSHA(e.SHA)
		}
	case journal.Delivered:
		return eventLine{"", pick(len(e.Left) > 0, warnSign, goodSign), deliveredText(e)}
	case journal.PullOpened:
		line.text = fmt.Sprintf("pull request #%d: %s", e.Number, e.URL)
		if e.Again {
			line.text = fmt.Sprintf("pull request #%d is a draft until the new head is proven", e.Number)
		}
	case journal.PullReadied:
		return eventLine{"", goodSign, fmt.Sprintf("pull request #%d is ready for review", e.Number)}
	case journal.Joined:
		return eventLine{"", pick(len(e.Conflicts) > 0, warnSign, plainSign), joinedText(run, e)}
	case journal.Signed:
		line.text = "GitHub signed " + shortSHA(e.From) + " as " + shortSHA(e.To)
	case journal.Packed:
		line.text = "the work is in the file " + oneLine(e.Path)
	case journal.Branched:
		text := "continuing on " + oneLine(e.To) + " instead of " + oneLine(e.From) + ": " + oneLine(e.Why)
		return eventLine{"", warnSign, text}
	case journal.PublishFailed:
		text := "could not " + actText(e.Act) + ": " + oneLine(e.Why)
		return eventLine{"", warnSign, appendNonEmpty(text, " – ", oneLine(e.Fix))}
	case journal.CommentPosted:
		line.text = "progress comment: " + e.URL
	case journal.CancelAsked:
		line.text = "stopping: " + oneLine(e.Why)
	}
	return line
}

func planLines(e journal.PlanRead) []eventLine {
	var lines []eventLine
	if len(e.Claimed) > 0 {
		lines = append(lines, iterationLine(plainSign, "the agent claims "+oneLine(strings.Join(e.Claimed, ", "))))
	}
	for _, what := range e.Undone {
		lines = append(lines, iterationLine(warnSign, "restored: "+oneLine(what)))
	}
	if e.Cut {
		lines = append(lines, iterationLine(warnSign, "restored in the progress log: the text of earlier iterations"))
	}
	return lines
}

func commitLines(e journal.CommitsTaken) []eventLine {
	var lines []eventLine
	for _, commit := range e.Commits {
		text := "accepted " + shortSHA(commit.SHA) + " " + oneLine(commit.Subject)
		lines = append(lines, iterationLine(plainSign, text))
	}
	for _, path := range e.Dropped {
		lines = append(lines, iterationLine(warnSign, "protected file restored: "+oneLine(path)))
	}
	if len(e.Huge) > 0 {
		text := "left out, as larger than 100 MiB: " + oneLine(journal.ShortList(e.Huge))
		lines = append(lines, iterationLine(warnSign, text))
	}
	for _, finding := range e.Refused {
		place := appendNonEmpty(shortSHA(finding.Commit), " ", finding.Path)
		text := appendNonEmpty("commits refused", ": ", place) + ": " + finding.Why
		lines = append(lines, iterationLine(badSign, oneLine(text)))
	}
	return lines
}

// verdictLines returns the passed stories, the rejected claims, and whether the work is complete. If all checks pass,
// it names what is missing: no other line does.
func verdictLines(run journal.Run, e journal.IterationEnded) []eventLine {
	var lines []eventLine
	for _, id := range e.Passed {
		lines = append(lines, iterationLine(goodSign, oneLine(id)+" passed"))
	}
	for _, rejected := range e.Rejected {
		lines = append(lines, iterationLine(badSign, "rejected: "+oneLine(rejected.Claim+": "+rejected.Why)))
	}
	switch {
	case e.Done:
		lines = append(lines, iterationLine(goodSign, "complete"))
	case len(lines) == 0:
		lines = append(lines, iterationLine(openSign, openText(run, e)))
	}
	return lines
}

// openText returns that the story, or the work, is not complete. If the checks are green, it says what is missing.
func openText(run journal.Run, e journal.IterationEnded) string {
	if e.Story == "" {
		missing := ": the agent did not say " + oneLine(run.Policy.PromiseTag())
		return "not complete yet" + pick(e.Green, missing, "")
	}
	return oneLine(e.Story) + " is still open" + pick(e.Green, ": the agent did not mark it as passed", "")
}
