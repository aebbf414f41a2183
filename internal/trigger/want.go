package trigger

import (
	"fmt"
	"strings"
)

// Want tells whether t is for us at all and what it asks for, before anybody
// is asked anything. The string is why it is not, for one line of the log:
// most of what GitHub sends is not for us, and that is no failure.
func Want(t Trigger, rules Rules) (Command, string) {
	cmd, why := asked(t, rules)
	if why == "" {
		why = unfit(t, rules)
	}
	if why != "" {
		return Command{}, why
	}
	return cmd, ""
}

// asked looks for the words that wake us.
func asked(t Trigger, rules Rules) (Command, string) {
	switch t.Event {
	case EventIssues:
		return labelled(t, rules)
	case EventIssueComment:
		return commented(t, rules)
	}
	return Command{}, fmt.Sprintf("the event %q starts nothing", t.Event)
}

func labelled(t Trigger, rules Rules) (Command, string) {
	if t.Action != "labeled" {
		return Command{}, fmt.Sprintf("an issue that is %q starts nothing: only a label does", t.Action)
	}
	if !strings.EqualFold(strings.TrimSpace(t.Label), rules.label()) {
		return Command{}, fmt.Sprintf("the label is %q, not %q", t.Label, rules.label())
	}
	return Command{Verb: Run}, ""
}

func commented(t Trigger, rules Rules) (Command, string) {
	if t.Action != "created" {
		return Command{}, fmt.Sprintf("a comment that is %q starts nothing: only a new one does", t.Action)
	}
	if t.Comment.Ours {
		return Command{}, "the comment is our own"
	}
	cmd, ok := parse(t.Comment.Body, rules.phrase())
	if !ok {
		return Command{}, fmt.Sprintf("the comment's first line does not begin with %q", rules.phrase())
	}
	return cmd, ""
}

// unfit says why we cannot serve what was asked of us.
func unfit(t Trigger, rules Rules) string {
	asker := t.Asker()
	switch {
	case asker.Login == "":
		return "nobody knows who asked: the account is gone"
	case asker.IsBot && !rules.Vouches(asker):
		return fmt.Sprintf("%s is a bot and not one of allow-bots", asker.Login)
	case t.Issue.IsPull:
		return fmt.Sprintf("#%d is a pull request: work on those is not there yet", t.Issue.Number)
	case t.Issue.State != "open":
		return fmt.Sprintf("#%d is %s: open it first", t.Issue.Number, t.Issue.State)
	}
	return ""
}
