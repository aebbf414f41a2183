package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Line is what the log says of an event, in one line or more; empty for one
// that is no news there. Run is the run after it. Whoever prints it still has
// to make each line fit for where it goes.
func Line(run journal.Run, event journal.Event) string {
	if run.Policy.Done == policy.ByFile {
		if line, told := supervision(run, event); told {
			return line
		}
	}
	return line(run, event)
}

func line(run journal.Run, event journal.Event) string { //nolint:funlen // a table: an event, its words
	switch e := event.(type) {
	case journal.RunBegan:
		return begun(e)
	case journal.Resumed:
		return strings.TrimSuffix("going on with run "+run.ID+": "+one(e.Why)+", sandbox level "+e.Level, ", sandbox level ")
	case journal.Noted:
		return noted(e)
	case journal.EgressRefused:
		return barred(e)
	case journal.EgressPassed:
		return through(e)
	case journal.SetupEnded:
		return checked("setup", journal.CheckEnded(e))
	case journal.CheckEnded:
		return checked("check", e) + tested(run, e) + asked(run.Policy, e) + unstarted(run, e)
	case journal.PlanDrafted:
		return drafted(e)
	case journal.BaselineEnded:
		return based(run, e)
	case journal.IterationBegan:
		return strings.TrimSuffix(fmt.Sprintf("iteration %d: %s", e.Number, one(e.Story)), ": ")
	case journal.AgentEnded:
		return worked(e)
	case journal.PlanRead:
		return planned(e)
	case journal.CommitsTaken:
		return taken(e)
	case journal.ProofEnded:
		return proved(e)
	case journal.ChangeInspected:
		return inspected(e)
	case journal.StoryGraded:
		return graded(run, e)
	case journal.StoryReviewed:
		return reviewed(e)
	case journal.IterationEnded:
		return judged(e)
	case journal.RunStopped:
		return stopped(e)
	case journal.SCMEnded:
		return committed(e)
	case journal.Paused:
		return pausing(run, e)
	case journal.TaskLooked: // what comes of it is told
	case journal.TaskSettled:
		return settled(e)
	case journal.Pushed:
		return "pushed " + short(e.SHA) + " to " + e.Branch
	case journal.PullOpened:
		return fmt.Sprintf("pull request #%d: %s", e.Number, e.URL)
	case journal.PullReadied:
		return fmt.Sprintf("pull request #%d is ready for review", e.Number)
	case journal.Joined:
		return joined(run, e)
	case journal.Signed:
		return "github has signed " + short(e.From) + ": it is " + short(e.To) + " now"
	case journal.Packed:
		text := "the work is in the file " + one(e.Path)
		if e.Rest != "" {
			text += "; all of it but " + one(journal.Few(e.Without)) + " is on " + one(e.Rest)
		}
		return text
	case journal.Branched:
		return "going on on " + one(e.To) + " in the place of " + one(e.From) + ": " + one(e.Why)
	case journal.PublishFailed:
		text := "could not " + doing(e.Act) + ": " + one(e.Why)
		if e.Fix != "" {
			text += " – " + one(e.Fix)
		}
		return text
	case journal.CommentPosted:
		return "progress comment: " + e.URL
	case journal.Shelved: // of no news to people
	case journal.CancelAsked:
		return "stopping: " + one(e.Why)
	}
	return ""
}

// one is foreign text on one line, so that it cannot pass for lines of ours.
func one(text string) string { return strings.Join(strings.Fields(text), " ") }

// based is what came of the base, and what to do about it.
func based(run journal.Run, e journal.BaselineEnded) string {
	text := strings.TrimSuffix("base looked at: "+one(e.Why), ": ")
	missing := slices.ContainsFunc(run.BaseChecks, cannotStart)
	if e.Usable && !missing {
		return text
	}
	return strings.TrimSuffix(text+" – "+Mend(run)+pick(missing, haveTried.of(run), ""), " – ")
}

func checked(what string, e journal.CheckEnded) string {
	how := "passed"
	switch {
	case e.TimedOut:
		how = "ran out of time"
	case e.CannotRun:
		how = fmt.Sprintf("cannot run (exit %d)", e.Exit)
	case !e.Passed:
		how = fmt.Sprintf("failed (exit %d)", e.Exit)
	}
	where := map[journal.Where]string{
		journal.AtBase:  "at the base",
		journal.AtWork:  "in the agent's tree",
		journal.AtProof: "on a clean checkout",
		journal.AtTests: "on the base with the story's tests",
	}[e.Where]
	return fmt.Sprintf("  %s %s %s %s, %s", what, one(e.Name), how, where, policy.Short(e.Took()))
}

// asked is what becomes of a guardrail's failure in the next prompt, in the
// word that the settings have for it.
func asked(p policy.Policy, e journal.CheckEnded) string {
	if e.Passed || p.Done != policy.ByResponse {
		return ""
	}
	action := policy.Append
	for _, check := range p.Checks {
		if check.Name == e.Name {
			action = cmp.Or(check.FailAction, action)
		}
	}
	if action == policy.Replace {
		return ": REPLACE the prompt"
	}
	return ": " + string(action) + " to the prompt"
}

// noted is what people should know, and what decides nothing.
func noted(e journal.Noted) string {
	return strings.TrimSuffix("note: "+one(e.What)+" – "+one(e.Hint), " – ")
}

// pausing is how long a run waits, and for what.
func pausing(run journal.Run, e journal.Paused) string {
	if run.Policy.Done == policy.ByFile {
		return restarting(run)
	}
	return fmt.Sprintf("  waiting %s, until %s: %s", policy.Short(e.Delay()), clock(run.Now.Add(e.Delay())), one(e.Why))
}

// clock is a moment as people read it who may be anywhere.
func clock(at time.Time) string { return at.UTC().Format("15:04:05 UTC") }

func worked(e journal.AgentEnded) string {
	how := "agent ended"
	switch {
	case e.Busy:
		how = "the model's server turned the agent away: " + one(e.Why)
	case e.Failed:
		how = "agent failed: " + one(e.Why)
	}
	return fmt.Sprintf("  %s, %s, %s, %s", how, plural(e.Tools, "tool call"), spent(e.Cost.USD, e.Cost.Known), policy.Short(e.Took()))
}

// logMended is said where an agent cut or rewrote what others had written down.
const logMended = "put back in the progress log: what earlier iterations wrote"

// leftOut begins what is said of files that are no work for their size.
const leftOut = "left out, as larger than 100 MiB: "

func planned(e journal.PlanRead) string {
	var parts []string
	if len(e.Claimed) > 0 {
		parts = append(parts, "  the agent claims "+one(strings.Join(e.Claimed, ", ")))
	}
	for _, what := range e.Undone {
		parts = append(parts, "  put back: "+one(what))
	}
	if e.Cut {
		parts = append(parts, "  "+logMended)
	}
	return strings.Join(parts, "\n")
}

func taken(e journal.CommitsTaken) string {
	var parts []string
	for _, commit := range e.Commits {
		parts = append(parts, "  took "+short(commit.SHA)+" "+one(commit.Subject))
	}
	for _, path := range e.Dropped {
		parts = append(parts, "  protected file put back: "+one(path))
	}
	if len(e.Huge) > 0 {
		parts = append(parts, "  "+leftOut+one(journal.Few(e.Huge)))
	}
	for _, finding := range e.Refused {
		parts = append(parts, "  refused "+one(short(finding.Commit)+" "+blamed(finding)))
	}
	return strings.Join(parts, "\n")
}

func committed(e journal.SCMEnded) string {
	switch {
	case e.Failed:
		return "  " + e.Task + " failed: " + one(e.Why)
	case e.Exit != 0:
		return "  " + e.Task + ": nothing to commit"
	}
	return strings.TrimSuffix("  "+e.Task+": "+one(e.Message), ": ")
}

func proved(e journal.ProofEnded) string {
	switch {
	case e.Reused:
		return "  the same tree was checked before: " + short(e.Commit)
	case !e.Passed:
		return "  " + short(e.Commit) + " failed on a clean checkout: " + one(e.Why)
	case e.Empty:
		return "  " + short(e.Commit) + ": nothing could be verified"
	}
	text := "  " + short(e.Commit) + " passed on a clean checkout"
	if len(e.Restored) > 0 {
		text += ", with as the base has them: " + one(journal.Few(e.Restored))
	}
	return text
}

// begun is what a run sets out with.
func begun(e journal.RunBegan) string {
	parts := []string{"agent " + e.Policy.Agent, "sandbox level " + e.Level}
	if n := len(e.Plan.UserStories); n > 0 {
		parts = append([]string{plural(n, "story")}, parts...)
	}
	at := ""
	if e.Start != "" {
		at = " on " + short(e.Start)
	}
	return "run " + e.Run + at + ": " + strings.Join(parts, ", ")
}

func judged(e journal.IterationEnded) string {
	var parts []string
	for _, id := range e.Passed {
		parts = append(parts, "  "+one(id)+" passed")
	}
	for _, rejected := range e.Rejected {
		parts = append(parts, "  rejected: "+one(rejected.Claim+": "+rejected.Why))
	}
	switch {
	case e.Done:
		return "  complete"
	case len(parts) == 0 && e.Story == "":
		return "  not complete yet"
	case len(parts) == 0:
		return "  " + one(e.Story) + " is still open"
	}
	return strings.Join(parts, "\n")
}

// stopped names the reason where the status does not say it already.
func stopped(e journal.RunStopped) string {
	text := "run " + string(e.Reason.Status())
	if string(e.Reason) != string(e.Reason.Status()) {
		text += ": " + string(e.Reason)
	}
	return strings.TrimSuffix(text+": "+one(e.Why), ": ")
}
