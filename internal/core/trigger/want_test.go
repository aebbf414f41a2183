package trigger_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// labelled returns the event of an open issue to which mia added a label.
func labelled(label string) trigger.Trigger {
	return trigger.Trigger{
		Event:  "issues",
		Action: "labeled",
		Repo:   trigger.Repo{Owner: "acme", Name: "shop"},
		Issue: trigger.Issue{
			Number: 7, Title: "Add a cart", Body: "It is missing.", Author: "otto",
			URL: "https://github.com/acme/shop/issues/7", State: "open",
		},
		Label:  label,
		Sender: trigger.Sender{Login: "mia"},
	}
}

// commentEvent returns the event of mia's comment on that issue.
func commentEvent(body string) trigger.Trigger {
	t := labelled("")
	t.Event, t.Action = "issue_comment", "created"
	t.Comment = trigger.Comment{ID: 1, Body: body, Author: "mia"}
	return t
}

func with(t trigger.Trigger, change func(*trigger.Trigger)) trigger.Trigger {
	change(&t)
	return t
}

func TestLabelsAndEventsThatAreForUs(t *testing.T) {
	bot := func(login string) func(*trigger.Trigger) {
		return func(t *trigger.Trigger) { t.Sender = trigger.Sender{Login: login, IsBot: true} }
	}
	rules := trigger.Rules{AllowBots: []string{"planner"}}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		rules   trigger.Rules
		why     string
	}{
		"the label":                 {trigger: labelled("ralph")},
		"the label in another case": {trigger: labelled("Ralph")},
		"another label":             {trigger: labelled("bug"), why: `the label is "bug", not "ralph"`},
		"a label of one's own":      {trigger: labelled("ai: go"), rules: trigger.Rules{Label: "ai: go"}},
		"a bot that is named":       {trigger: with(labelled("ralph"), bot("planner[bot]")), rules: rules},
		"a bot that is not":         {trigger: with(labelled("ralph"), bot("spam[bot]")), rules: rules, why: "spam[bot] is a bot and not one of allow-bots"},
		"a deleted account":         {trigger: with(labelled("ralph"), bot("")), why: "the account that asked no longer exists"},
		"an issue that was opened":  {trigger: with(labelled("ralph"), func(t *trigger.Trigger) { t.Action = "opened" }), why: `an issue that is "opened" starts nothing: only a label does`},
		"an event of no interest":   {trigger: trigger.Trigger{Event: "push"}, why: `the event "push" starts nothing`},
		"a comment that was edited": {trigger: with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Action = "edited" }), why: `a comment that is "edited" starts nothing: only a new one does`},
		"a comment of our own":      {trigger: with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Comment.Ours = true }), why: "the comment is our own"},
		"a comment by a bot":        {trigger: with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Comment.AuthorIsBot = true }), why: "mia is a bot and not one of allow-bots"},
		"a phrase of one's own":     {trigger: commentEvent("@bot please"), rules: trigger.Rules{Phrase: "@bot"}},
		"ours when it has its own":  {trigger: commentEvent("/ralph"), rules: trigger.Rules{Phrase: "@bot"}, why: `the comment's first line does not begin with "@bot"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, why := trigger.CommandOf(c.trigger, c.rules)
			if why != c.why {
				t.Errorf("Want refuses with %q, want %q", why, c.why)
			}
			if c.why == "" && c.trigger.Event == "issues" && cmd != (trigger.Command{Verb: trigger.Run}) {
				t.Errorf("Want = %+v, want a run and nothing said beside it", cmd)
			}
		})
	}
}

// A request for work on a closed issue gets an answer. Commands without work are accepted.
func TestAClosedIssue(t *testing.T) {
	told := trigger.Command{Verb: trigger.Help, Said: "run", Why: "#7 is closed: open it first"}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		want    trigger.Command
		why     string
	}{
		"a label":   {trigger: labelled("ralph"), want: told},
		"a command": {trigger: commentEvent("/ralph"), want: told},
		"stop":      {trigger: commentEvent("/ralph stop"), want: trigger.Command{Verb: trigger.Stop}},
		"chatter":   {trigger: commentEvent("Thanks!"), why: `the comment's first line does not begin with "/ralph"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, why := trigger.CommandOf(with(c.trigger, func(t *trigger.Trigger) { t.Issue.State = "closed" }), trigger.Rules{})
			if diff := cmp.Diff(c.want, cmd); diff != "" || why != c.why {
				t.Errorf("Want refuses with %q, want %q (-want +got):\n%s", why, c.why, diff)
			}
		})
	}
	merged := with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Issue.State, t.Issue.IsPull, t.Issue.Merged = "closed", true, true })
	if cmd, _ := trigger.CommandOf(merged, trigger.Rules{}); !strings.HasPrefix(cmd.Why, "#7 is merged: ask for more on an issue") {
		t.Errorf("of a merged pull request people hear %q: it cannot be reopened", cmd.Why)
	}
}

func TestCommentsThatAreNoCommand(t *testing.T) {
	for _, body := range []string{
		"", "ralph", "/ralphx", "/ralph:go", "/ralph/prd.json", "> /ralph", "`/ralph`", "    /ralph", "\t/ralph", "```\n/ralph\n```",
		"please /ralph", "Look:\n/ralph", "/ralp\xc3",
	} {
		t.Run(body, func(t *testing.T) {
			if cmd, why := trigger.CommandOf(commentEvent(body), trigger.Rules{}); why == "" {
				t.Errorf("Want takes it for %+v", cmd)
			}
		})
	}
}
