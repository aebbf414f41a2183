package trigger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CommandOf returns the command of an event without any call to GitHub, or, as a line for
// the log, why there is none. Most events are not for ralph.
func CommandOf(t Trigger, rules Rules) (Command, string) {
	cmd, why := readCommand(t, rules)
	if why != "" {
		return Command{}, why
	}
	if why := whyUnfit(t, rules); why != "" {
		return Command{}, why
	}
	cmd, why = refuseIfClosed(t, cmd)
	if why != "" {
		return Command{}, why
	}
	if cmd.Verb == Update && !t.IsOnPull() {
		why := "it merges the base branch into the branch of a pull request: ask there"
		return RefusedCommand(string(Update), why), ""
	}
	return cmd, ""
}

// refuseIfClosed refuses a command that starts work on a closed issue. A person who asked by
// a label or comment gets an answer.
func refuseIfClosed(t Trigger, cmd Command) (Command, string) {
	why := t.whyClosed(cmd)
	if why == "" {
		return cmd, ""
	}
	if t.Label != "" || t.isNewComment() {
		return RefusedCommand(string(cmd.Verb), why), ""
	}
	return cmd, why
}

func (t Trigger) whyClosed(cmd Command) string {
	if t.Issue.Number == 0 || t.Issue.State == "open" || !cmd.Verb.UsesAgent() {
		return ""
	}
	if t.Issue.Merged {
		return fmt.Sprintf("#%d is merged: ask for more on an issue, or on a pull request that is open", t.Issue.Number)
	}
	return fmt.Sprintf("#%d is %s: open it first", t.Issue.Number, t.Issue.State)
}

func readCommand(t Trigger, rules Rules) (Command, string) {
	switch t.Event {
	case EventIssues:
		return issueCommand(t, rules)
	case EventIssueComment, EventReviewComment:
		return commentCommand(t, rules)
	case EventReview:
		return reviewCommand(t)
	}
	if t.IsCI() {
		return ciCommand(t, rules)
	}
	return inputsCommand(t, fmt.Sprintf("the event %q starts nothing", t.Event))
}

// ciCommand accepts an event after which a check of a branch can be red.
func ciCommand(t Trigger, rules Rules) (Command, string) {
	switch {
	case slices.Contains([]string{"", "success", "neutral", "skipped", "pending"}, t.CI.Conclusion):
		return Command{}, fmt.Sprintf("the checks ended with %q", t.CI.Conclusion)
	case t.CI.Branch == "":
		return Command{}, "the commit is the head of no branch of this repository"
	case !strings.HasPrefix(t.CI.Branch, cmp.Or(rules.BranchPrefix, DefaultBranchPrefix)):
		return Command{}, "the branch is not one of ralph's"
	}
	return Command{Verb: Run}, ""
}

// inputsCommand returns the command of the workflow's inputs, or reason if there are none.
func inputsCommand(t Trigger, reason string) (Command, string) {
	if t.Inputs == (Inputs{}) {
		return Command{}, reason
	}
	return Command{Verb: Run}, ""
}

func issueCommand(t Trigger, rules Rules) (Command, string) {
	if t.Action != "labeled" {
		return inputsCommand(t, fmt.Sprintf("an issue that is %q starts nothing: only a label does", t.Action))
	}
	if !equalNames(t.Label, rules.label()) {
		return Command{}, fmt.Sprintf("the label is %q, not %q", t.Label, rules.label())
	}
	return Command{Verb: Run}, ""
}

func commentCommand(t Trigger, rules Rules) (Command, string) {
	switch {
	case t.Action != "created":
		return Command{}, fmt.Sprintf("a comment that is %q starts nothing: only a new one does", t.Action)
	case t.Comment.Ours:
		return Command{}, "the comment is our own"
	}
	cmd, ok := parseComment(t.Comment.Body, rules.phrase())
	if !ok {
		return Command{}, fmt.Sprintf("the comment's first line does not begin with %q", rules.phrase())
	}
	return cmd, ""
}

// reviewCommand reads a review. A review that asks for changes is a task.
func reviewCommand(t Trigger) (Command, string) {
	switch {
	case t.Action != "submitted":
		return Command{}, fmt.Sprintf("a review that is %q starts nothing: only a new one does", t.Action)
	case t.Review.State != "changes_requested":
		return Command{}, fmt.Sprintf("a review that says %q asks for no changes", t.Review.State)
	case t.Review.Ours:
		return Command{}, "the review is our own"
	}
	return Command{Verb: Run}, ""
}

// whyUnfit returns why this account cannot start work, or an empty text.
func whyUnfit(t Trigger, rules Rules) string {
	asker := t.Asker()
	switch {
	case t.IsCI(): // the workflow that listens for the event allows it
		return ""
	case asker.Login == "":
		return "the account that asked no longer exists"
	case asker.IsBot && !rules.IsAllowed(asker):
		return fmt.Sprintf("%s is a bot and not one of allow-bots", asker.Login)
	}
	return ""
}
