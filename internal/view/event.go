package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// eventLine is one line about an event: how far in it stands, its sign on a
// terminal, its words.
type eventLine struct{ indent, sign, text string }

// iterationLine is a line about a part of an iteration.
func iterationLine(sign, text string) eventLine { return eventLine{"  ", sign, text} }

// Line is what the log says of an event, in one line or more; empty for one
// that is no news there. Run is the run after it. The caller still has to clean
// each line for its output.
func Line(run journal.Run, event journal.Event) string {
	var lines []string
	for _, said := range eventLines(run, event) {
		lines = append(lines, said.indent+said.text)
	}
	return strings.Join(lines, "\n")
}

// eventLines is the one table from an event to its lines: the log prints them, and the
// console puts their signs before them.
func eventLines(run journal.Run, event journal.Event) []eventLine {
	if run.Policy.Done == policy.ByFile {
		if text, told := supervisedText(run, event); told {
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

// optionalLine is text in the lines that it has; none for an empty one.
func optionalLine(indent, sign, text string) []eventLine {
	if text == "" {
		return nil
	}
	return []eventLine{{indent, sign, text}}
}

// eventSign goes before an event that has one line.
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

// eventText are those of an event that has one line; empty for one that is no news.
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
		return fmt.Sprintf("waiting %s, until %s: %s", policy.Short(e.Delay()), utcClock(run.Now.Add(e.Delay())), oneLine(e.Why))
	case journal.TaskSettled:
		return taskSettledText(e)
	}
	return publishedText(run, event)
}

// publishedText are the words of what has become of the work elsewhere.
func publishedText(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others are of no news to people
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
			text += "; all of it but " + oneLine(journal.Few(e.Without)) + " is on " + oneLine(e.Rest)
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

func planLines(e journal.PlanRead) (said []eventLine) {
	if len(e.Claimed) > 0 {
		said = append(said, iterationLine(plainSign, "the agent claims "+oneLine(strings.Join(e.Claimed, ", "))))
	}
	for _, what := range e.Undone {
		said = append(said, iterationLine(warnSign, "put back: "+oneLine(what)))
	}
	if e.Cut {
		said = append(said, iterationLine(warnSign, logRestored))
	}
	return said
}

func commitLines(e journal.CommitsTaken) (said []eventLine) {
	for _, commit := range e.Commits {
		said = append(said, iterationLine(plainSign, "took "+shortSHA(commit.SHA)+" "+oneLine(commit.Subject)))
	}
	for _, path := range e.Dropped {
		said = append(said, iterationLine(warnSign, "protected file put back: "+oneLine(path)))
	}
	if len(e.Huge) > 0 {
		said = append(said, iterationLine(warnSign, tooLarge+oneLine(journal.Few(e.Huge))))
	}
	for _, finding := range e.Refused {
		said = append(said, iterationLine(badSign, "refused "+oneLine(shortSHA(finding.Commit)+" "+findingText(finding))))
	}
	return said
}

// verdictLines is a line for each story that passed, then what was rejected, then
// whether the run is complete.
func verdictLines(e journal.IterationEnded) (said []eventLine) {
	for _, id := range e.Passed {
		said = append(said, iterationLine(goodSign, oneLine(id)+" passed"))
	}
	for _, rejected := range e.Rejected {
		said = append(said, iterationLine(badSign, "rejected: "+oneLine(rejected.Claim+": "+rejected.Why)))
	}
	switch {
	case e.Done:
		said = append(said, iterationLine(goodSign, "complete"))
	case len(said) == 0 && e.Story == "":
		said = append(said, iterationLine(openSign, "not complete yet"))
	case len(said) == 0:
		said = append(said, iterationLine(openSign, oneLine(e.Story)+" is still open"))
	}
	return said
}
