package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// storyCount does not count a story as proven that needs no proof, as of documents or tests alone.
func storyCount(run journal.Run) string {
	proven, exempt := 0, 0
	for _, s := range run.Plan.UserStories {
		proof, _ := run.StoryProof(s.ID)
		switch {
		case !verdict.IsStoryProven(run, s):
		case proof.Result == journal.Proven:
			proven++
		default:
			exempt++
		}
	}
	if proven+exempt == 0 {
		return passedText(run)
	}
	text := fmt.Sprintf("%d of %d proven", proven, len(run.Plan.UserStories))
	if exempt > 0 {
		text += fmt.Sprintf(", %d %s no proof", exempt, pick(exempt == 1, "needs", "need"))
	}
	return text
}

// signOf returns the sign of the comment: at work, done, or a person has to do something.
func signOf(run journal.Run) string {
	switch {
	case run.Stop == nil:
		return "⏳"
	case ending.Of(run).Cause == nil:
		return goodSign
	}
	return warnSign
}

// location returns where the work is, unless the headline says it.
func location(run journal.Run) string {
	switch pull := run.Published.Pull; {
	case pull == nil && run.Published.Pushed != "":
		return Code(run.Branch, 160)
	case pull == nil:
		return ""
	case pull.Draft:
		return fmt.Sprintf("draft #%d", pull.Number)
	case run.Stop == nil || ending.Of(run).Cause != nil:
		return fmt.Sprintf("#%d", pull.Number)
	}
	return ""
}

var fullSHA = pattern.Of(`^[0-9a-f]{40}$`)

var stateRef = pattern.Of(`^refs/ralph/[a-z0-9-]+$`)

// savedCommit returns the newest commit that saved the run, if it is valid: it goes into a marker.
func savedCommit(run journal.Run) string {
	if run.Published.Shelved == nil || fullSHA.FindString(run.Published.Shelved.Commit) == "" {
		return ""
	}
	return run.Published.Shelved.Commit
}

// savedCommitOnRef returns where a run without an issue is saved: it has no comment with a marker.
func savedCommitOnRef(run journal.Run) string {
	commit := savedCommit(run)
	if commit == "" || run.Task.Number != 0 || !stateRef.MatchString(run.Published.Shelved.Ref) {
		return ""
	}
	return commit + " on " + run.Published.Shelved.Ref
}

// isSessionLoop reports whether hooks of Claude Code run the loop in a session.
func isSessionLoop(run journal.Run) bool { return run.Policy.Done == policy.ByPromise }

// sessionHeadline returns the session of the loop, its start, and how often it was continued.
func sessionHeadline(run journal.Run) string {
	session := "a Claude Code session"
	if n := len(run.Iterations); n > 0 && run.Iterations[n-1].Session != "" {
		session = "the Claude Code session " + clean.Inline(run.Iterations[n-1].Session, 100)
	}
	began := run.Clock.Granted.At.UTC().Format("2006-01-02 15:04 UTC")
	continued := max(run.UsedIterations()-1, 0)
	limit := Plural(run.Policy.Limits.Iterations, "time")
	return fmt.Sprintf("runs in %s since %s, sent back to work %d of at most %s", session, began, continued, limit)
}

func sessionContinuation(run journal.Run) string {
	if run.IsCompleted() {
		return ""
	}
	return pick(run.Stop == nil, "if that session was closed, ", "") +
		"continue with `/ralph-loop --resume` in a Claude Code session of this project"
}

// elapsed returns the time until the run stopped, or until an iteration began or ended: an unchanged comment is not
// edited.
func elapsed(run journal.Run) string {
	at := run.Clock.Began
	n := len(run.Iterations)
	switch {
	case run.Stop != nil:
		at = run.Clock.Now
	case n > 0 && run.Iterations[n-1].Ended == nil:
		at = run.Iterations[n-1].Began
	case n > 0:
		at = run.Iterations[n-1].Last
	}
	return policy.FormatDuration(at.Sub(run.Clock.Began))
}

// State is the state of a run in one word, as a label for filters.
type State string

// NeedsInput waits for an answer, Review for a review of the pull request. Stopped is for runs without success.
const (
	Running    State = "running"
	NeedsInput State = "needs-input"
	Review     State = "review"
	Stopped    State = "stopped"
)

// States returns all states.
func States() []State { return []State{Running, NeedsInput, Review, Stopped} }

// Label returns the GitHub label of the state.
func (s State) Label() string { return "ralph:" + string(s) }

func stateOf(run journal.Run) State {
	switch {
	case run.Stop == nil:
		return Running
	case run.Stop.Reason == policy.NeedsInput:
		return NeedsInput
	case !run.IsCompleted():
		return Stopped
	case run.Published.Pull != nil:
		return Review
	}
	return ""
}

// quietWorkflows returns why the repository's workflows do not run on the branch, and how to start them.
func quietWorkflows(run journal.Run) string {
	if run.Published.Comment == nil || !run.Published.Comment.Quiet {
		return ""
	}
	if run.Published.Pushed == "" || (run.Published.Pull == nil && !run.Policy.NoPull) {
		return ""
	}
	return "GitHub does not run your workflows on commits that a job's own token pushed, or waits for your approval. " +
		"To run them, press **Approve workflows to run** on the pull request's page, or close and reopen it. " +
		"With the input `ci-token`, or with a GitHub App, they run by themselves"
}

// CommandProblem returns why a command is unknown or not allowed. It is empty for help.
func CommandProblem(c trigger.Command) string {
	word := Code(c.Said, 80)
	switch {
	case c.Said == "" && c.Why == "":
		return ""
	case c.Said == "":
		return fmt.Sprintf("Sorry, %s.", c.Why)
	case c.Why != "":
		return fmt.Sprintf("%s is not allowed: %s.", word, c.Why)
	case c.Nearest != "":
		return fmt.Sprintf("Unknown: %s. Did you mean `%s`?", word, c.Nearest)
	}
	return fmt.Sprintf("Unknown: %s. Put words for the agent after `--`.", word)
}

// Annotation is a message that GitHub shows at a job.
type Annotation struct {
	Title  string
	Text   string
	Notice bool // not an error
}

const maxAnnotations = 10

// Annotations returns an annotation for the end of a run that did not succeed, and for each failed check of the last
// verdict. Title and Text contain foreign text.
func Annotations(run journal.Run) []Annotation {
	var all []Annotation
	if e := ending.Of(run); e.Cause != nil {
		headline := strings.TrimSuffix(WithoutMarkup(Headline(run)), ".")
		all = append(all, Annotation{
			Title:  "ralph " + string(run.Stop.Reason.Status()),
			Text:   appendNonEmpty(headline, ". Next: ", WithoutMarkup(Next(run))),
			Notice: run.IsCompleted() || e.Cause == ending.Unapproved || e.Cause == ending.Cancelled,
		})
	}
	last, found := run.LastJudged()
	if !found || run.IsCompleted() {
		return all
	}
	checks := last.Checks
	if last.Proof != nil {
		checks = last.Proof.Checks.Head
	}
	for _, check := range checks {
		if check.Where == journal.AtNewTests || !verdict.BlocksStory(run, check) || len(all) == maxAnnotations {
			continue
		}
		all = append(all, Annotation{Title: oneLine(check.Name) + " failed", Text: singleLine(run, check).text})
	}
	return all
}
