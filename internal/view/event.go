package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// saying is one line about an event: how far in it stands, its sign on a
// terminal, its words.
type saying struct{ indent, sign, text string }

// within is a line about a part of an iteration.
func within(sign, text string) saying { return saying{"  ", sign, text} }

// Line is what the log says of an event, in one line or more; empty for one
// that is no news there. Run is the run after it. The caller still has to clean
// each line for its output.
func Line(run journal.Run, event journal.Event) string {
	var lines []string
	for _, said := range say(run, event) {
		lines = append(lines, said.indent+said.text)
	}
	return strings.Join(lines, "\n")
}

// say is the one table from an event to its lines: the log prints them, and the
// console puts their signs before them.
func say(run journal.Run, event journal.Event) []saying {
	if run.Policy.Done == policy.ByFile {
		if text, told := supervision(run, event); told {
			return some("", signOf(run, event), text)
		}
	}
	switch e := event.(type) { //nolint:gochecksumtype // the others have one line
	case journal.EgressPassed:
		return through(e)
	case journal.PlanRead:
		return planned(e)
	case journal.CommitsTaken:
		return taken(e)
	case journal.ChangeInspected:
		return inspected(e)
	case journal.IterationEnded:
		return judged(e)
	case journal.SetupEnded, journal.CheckEnded, journal.AgentEnded, journal.ProofEnded, journal.StoryGraded, journal.StoryReviewed,
		journal.SCMEnded, journal.Paused, journal.EgressRefused:
		return some("  ", signOf(run, event), words(run, event))
	}
	return some("", signOf(run, event), words(run, event))
}

// some is text in the lines that it has; none for an empty one.
func some(indent, sign, text string) []saying {
	if text == "" {
		return nil
	}
	return []saying{{indent, sign, text}}
}

// signOf goes before an event that has one line.
func signOf(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others are neither good nor bad
	case journal.RunBegan, journal.Resumed:
		return "🚀"
	case journal.CheckEnded:
		return mark(run, e)
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

// words are those of an event that has one line; empty for one that is no news.
func words(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others have several lines
	case journal.RunBegan:
		return begun(e)
	case journal.Resumed:
		return behind("continuing run "+run.ID+": "+one(e.Why), ", sandbox level ", e.Level)
	case journal.Noted:
		return behind("note: "+one(e.What), " – ", one(e.Hint))
	case journal.EgressRefused:
		return barred(e)
	case journal.SetupEnded:
		return checked("setup", journal.CheckEnded(e))
	case journal.CheckEnded:
		return checked("check", e) + tested(run, e) + asked(run.Policy, e) + unstarted(run, e)
	case journal.PlanDrafted:
		return drafted(e)
	case journal.BaselineEnded:
		return based(run, e)
	case journal.IterationBegan:
		return behind(fmt.Sprintf("iteration %d", e.Number), ": ", one(e.Story))
	case journal.AgentEnded:
		return worked(e)
	case journal.ProofEnded:
		return proved(e)
	case journal.StoryGraded:
		return graded(run, e)
	case journal.StoryReviewed:
		return "second opinion on " + reviewed(e)
	case journal.RunStopped:
		return stopped(e)
	case journal.SCMEnded:
		return committed(e)
	case journal.Paused:
		return fmt.Sprintf("waiting %s, until %s: %s", policy.Short(e.Delay()), clock(run.Now.Add(e.Delay())), one(e.Why))
	case journal.TaskSettled:
		return settled(e)
	}
	return published(run, event)
}

// published are the words of what has become of the work elsewhere.
func published(run journal.Run, event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others are of no news to people
	case journal.Pushed:
		if run.Links.Repo == "" { // the branch is one of the user's own repository
			return "branch " + e.Branch + " is at " + short(e.SHA)
		}
		return "pushed " + short(e.SHA) + " to " + e.Branch
	case journal.PullOpened:
		if e.Again {
			return fmt.Sprintf("pull request #%d is a draft until the new head is proven", e.Number)
		}
		return fmt.Sprintf("pull request #%d: %s", e.Number, e.URL)
	case journal.PullReadied:
		return fmt.Sprintf("pull request #%d is ready for review", e.Number)
	case journal.Joined:
		return joined(run, e)
	case journal.Signed:
		return "GitHub signed " + short(e.From) + " as " + short(e.To)
	case journal.Packed:
		text := "the work is in the file " + one(e.Path)
		if e.Rest != "" {
			text += "; all of it but " + one(journal.Few(e.Without)) + " is on " + one(e.Rest)
		}
		return text
	case journal.Branched:
		return "continuing on " + one(e.To) + " instead of " + one(e.From) + ": " + one(e.Why)
	case journal.PublishFailed:
		return behind("could not "+doing(e.Act)+": "+one(e.Why), " – ", one(e.Fix))
	case journal.CommentPosted:
		return "progress comment: " + e.URL
	case journal.CancelAsked:
		return "stopping: " + one(e.Why)
	}
	return ""
}

func planned(e journal.PlanRead) (said []saying) {
	if len(e.Claimed) > 0 {
		said = append(said, within(plainSign, "the agent claims "+one(strings.Join(e.Claimed, ", "))))
	}
	for _, what := range e.Undone {
		said = append(said, within(warnSign, "put back: "+one(what)))
	}
	if e.Cut {
		said = append(said, within(warnSign, logMended))
	}
	return said
}

func taken(e journal.CommitsTaken) (said []saying) {
	for _, commit := range e.Commits {
		said = append(said, within(plainSign, "took "+short(commit.SHA)+" "+one(commit.Subject)))
	}
	for _, path := range e.Dropped {
		said = append(said, within(warnSign, "protected file put back: "+one(path)))
	}
	if len(e.Huge) > 0 {
		said = append(said, within(warnSign, leftOut+one(journal.Few(e.Huge))))
	}
	for _, finding := range e.Refused {
		said = append(said, within(badSign, "refused "+one(short(finding.Commit)+" "+blamed(finding))))
	}
	return said
}

// judged is a line for each story that passed, then what was rejected, then
// whether the run is complete.
func judged(e journal.IterationEnded) (said []saying) {
	for _, id := range e.Passed {
		said = append(said, within(goodSign, one(id)+" passed"))
	}
	for _, rejected := range e.Rejected {
		said = append(said, within(badSign, "rejected: "+one(rejected.Claim+": "+rejected.Why)))
	}
	switch {
	case e.Done:
		said = append(said, within(goodSign, "complete"))
	case len(said) == 0 && e.Story == "":
		said = append(said, within(openSign, "not complete yet"))
	case len(said) == 0:
		said = append(said, within(openSign, one(e.Story)+" is still open"))
	}
	return said
}
