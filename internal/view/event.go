package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// eventLine is one line about an event: its indent, its sign on a terminal, its
// text.
type eventLine struct{ indent, sign, text string }

// iterationLine is a line about a part of an iteration.
func iterationLine(sign, text string) eventLine { return eventLine{"  ", sign, text} }

// Line is what the log says of an event, in one or more lines; empty if it says
// nothing. Run includes the event. The caller has to clean each line for its
// output.
func Line(run journal.Run, event journal.Event) string {
	var lines []string
	for _, line := range eventLines(run, event) {
		lines = append(lines, line.indent+line.text)
	}
	return strings.Join(lines, "\n")
}

// eventLines turns an event into lines. The log prints them; the console adds
// their signs.
func eventLines(run journal.Run, event journal.Event) []eventLine {
	if run.Policy.Done == policy.ByFile {
		if text, ok := supervisedText(run, event); ok {
			return optionalLine("", eventSign(run, event), text)
		}
	}
	switch e := event.(type) { //nolint:gochecksumtype // the others have one line
	case journal.EgressPassed:
		return trafficLines(e)
	case journal.PlanRead:
		return planLines(e)
	case journal.CommitsTaken:
		return commitLines(e)
	case journal.ChangeInspected:
		return inspectionLines(e)
	case journal.IterationEnded:
		return verdictLines(e)
	case journal.SetupEnded, journal.CheckEnded, journal.AgentEnded, journal.ProofEnded, journal.StoryGraded, journal.StoryReviewed,
		journal.SCMEnded, journal.Paused, journal.EgressRefused:
		return optionalLine("  ", eventSign(run, event), eventText(run, event))
	}
	return optionalLine("", eventSign(run, event), eventText(run, event))
}

func optionalLine(indent, sign, text string) []eventLine {
	if text == "" {
		return nil
	}
	return []eventLine{{indent, sign, text}}
}

// eventSign is the sign for an event that has one line.
func eventSign(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others are neither good nor bad
	case journal.RunBegan, journal.Resumed:
		return "🚀"
	case journal.CheckEnded:
		return checkMark(run, e)
	case journal.SetupEnded:
		return pick(e.Passed, goodSign, badSign)
	case journal.PlanDrafted:
		return pick(len(e.Stories) > 0, goodSign, warnSign)
	case journal.BaselineEnded:
		return pick(e.Usable, goodSign, warnSign)
	case journal.AgentEnded:
		return pick(e.Failed, badSign, goodSign)
	case journal.ProofEnded:
		return pick(!e.Passed, badSign, pick(e.Empty, warnSign, goodSign))
	case journal.StoryGraded, journal.StoryReviewed:
		return opinionSign(run, e)
	case journal.SCMEnded:
		return pick(e.Failed, badSign, goodSign)
	case journal.RunStopped:
		return stopSign(e)
	case journal.Paused:
		return waitSign
	case journal.IterationEnded, journal.PullReadied:
		return goodSign
	case journal.PublishFailed, journal.CancelAsked, journal.EgressRefused, journal.Branched:
		return warnSign
	case journal.Joined:
		return pick(len(e.Conflicts) > 0, warnSign, plainSign)
	}
	return plainSign
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

// eventText is the text for an event that has one line; empty if there is nothing
// to say.
func eventText(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others have several lines
	case journal.RunBegan:
		return runBeganText(e)
	case journal.Resumed:
		return appendNonEmpty("continuing run "+run.ID+": "+oneLine(e.Why), ", sandbox level ", e.Level)
	case journal.Noted:
		return appendNonEmpty("note: "+oneLine(e.What), " – ", oneLine(e.Hint))
	case journal.EgressRefused:
		return egressRefusedText(e)
	case journal.SetupEnded:
		return checkText("setup", journal.CheckEnded(e))
	case journal.CheckEnded:
		return checkText("check", e) + testCountText(run, e) + failActionText(run.Policy, e) + cannotStartHint(run, e)
	case journal.PlanDrafted:
		return draftText(e)
	case journal.BaselineEnded:
		return baselineText(run, e)
	case journal.IterationBegan:
		return appendNonEmpty(fmt.Sprintf("iteration %d", e.Number), ": ", oneLine(e.Story))
	case journal.AgentEnded:
		return agentText(e)
	case journal.ProofEnded:
		return proofText(e)
	case journal.StoryGraded:
		return gradeText(run, e)
	case journal.StoryReviewed:
		return "second opinion on " + reviewText(e)
	case journal.RunStopped:
		return stopText(e)
	case journal.SCMEnded:
		return scmText(e)
	case journal.Paused:
		return fmt.Sprintf("waiting %s, until %s: %s", policy.FormatDuration(e.Delay()), utcClock(run.Now.Add(e.Delay())), oneLine(e.Why))
	case journal.TaskSettled:
		return taskSettledText(e)
	}
	return publishedText(run, event)
}

// publishedText is the text for an event about branches, pull requests and
// comments.
func publishedText(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the log does not mention the others
	case journal.Pushed:
		if run.Links.Repo == "" { // the branch is one of the user's own repository
			return "branch " + e.Branch + " is at " + shortSHA(e.SHA)
		}
		return "pushed " + shortSHA(e.SHA) + " to " + e.Branch
	case journal.PullOpened:
		if e.Again {
			return fmt.Sprintf("pull request #%d is a draft until the new head is proven", e.Number)
		}
		return fmt.Sprintf("pull request #%d: %s", e.Number, e.URL)
	case journal.PullReadied:
		return fmt.Sprintf("pull request #%d is ready for review", e.Number)
	case journal.Joined:
		return joinedText(run, e)
	case journal.Signed:
		return "GitHub signed " + shortSHA(e.From) + " as " + shortSHA(e.To)
	case journal.Packed:
		text := "the work is in the file " + oneLine(e.Path)
		if e.Rest != "" {
			text += "; all of it but " + oneLine(journal.ShortList(e.Without)) + " is on " + oneLine(e.Rest)
		}
		return text
	case journal.Branched:
		return "continuing on " + oneLine(e.To) + " instead of " + oneLine(e.From) + ": " + oneLine(e.Why)
	case journal.PublishFailed:
		return appendNonEmpty("could not "+actText(e.Act)+": "+oneLine(e.Why), " – ", oneLine(e.Fix))
	case journal.CommentPosted:
		return "progress comment: " + e.URL
	case journal.CancelAsked:
		return "stopping: " + oneLine(e.Why)
	}
	return ""
}

func planLines(e journal.PlanRead) (lines []eventLine) {
	if len(e.Claimed) > 0 {
		lines = append(lines, iterationLine(plainSign, "the agent claims "+oneLine(strings.Join(e.Claimed, ", "))))
	}
	for _, what := range e.Undone {
		lines = append(lines, iterationLine(warnSign, "put back: "+oneLine(what)))
	}
	if e.Cut {
		lines = append(lines, iterationLine(warnSign, logRestored))
	}
	return lines
}

func commitLines(e journal.CommitsTaken) (lines []eventLine) {
	for _, commit := range e.Commits {
		lines = append(lines, iterationLine(plainSign, "accepted "+shortSHA(commit.SHA)+" "+oneLine(commit.Subject)))
	}
	for _, path := range e.Dropped {
		lines = append(lines, iterationLine(warnSign, "protected file put back: "+oneLine(path)))
	}
	if len(e.Huge) > 0 {
		lines = append(lines, iterationLine(warnSign, tooLarge+oneLine(journal.ShortList(e.Huge))))
	}
	for _, finding := range e.Refused {
		lines = append(lines, iterationLine(badSign, "refused "+oneLine(shortSHA(finding.Commit)+" "+findingText(finding))))
	}
	return lines
}

// verdictLines says which stories passed, which claims were rejected, and whether
// the run is complete.
func verdictLines(e journal.IterationEnded) (lines []eventLine) {
	for _, id := range e.Passed {
		lines = append(lines, iterationLine(goodSign, oneLine(id)+" passed"))
	}
	for _, rejected := range e.Rejected {
		lines = append(lines, iterationLine(badSign, "rejected: "+oneLine(rejected.Claim+": "+rejected.Why)))
	}
	switch {
	case e.Done:
		lines = append(lines, iterationLine(goodSign, "complete"))
	case len(lines) == 0 && e.Story == "":
		lines = append(lines, iterationLine(openSign, "not complete yet"))
	case len(lines) == 0:
		lines = append(lines, iterationLine(openSign, oneLine(e.Story)+" is still open"))
	}
	return lines
}
