package trigger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

func TestWhoMayRun(t *testing.T) {
	trusted := trigger.Rules{AllowUsers: []string{"Mia", " "}, AllowBots: []string{" Planner[BOT] "}}
	planner := with(labelled("ralph"), func(t *trigger.Trigger) {
		t.Sender = trigger.Sender{Login: "planner[bot]", IsBot: true}
	})
	short := func(has string) *trigger.Refusal {
		return &trigger.Refusal{Why: "mia needs write permission to start a run here and has " + has +
			"; allow-users can add people without it"}
	}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		rules   trigger.Rules
		known   trigger.RequestFacts
		want    *trigger.Refusal
	}{
		"admin":                         {trigger: labelled("ralph"), known: trigger.RequestFacts{Permission: "admin"}},
		"write":                         {trigger: labelled("ralph"), known: trigger.RequestFacts{Permission: "write"}},
		"triage may label, not run":     {trigger: labelled("ralph"), known: trigger.RequestFacts{Permission: "triage"}, want: short("triage")},
		"read":                          {trigger: commentEvent("/ralph"), known: trigger.RequestFacts{Permission: "read"}, want: short("read")},
		"not even an answer":            {trigger: commentEvent("/ralph"), want: short("none")},
		"a user who is named":           {trigger: commentEvent("/ralph"), rules: trusted, known: trigger.RequestFacts{Permission: "none"}},
		"a bot that is named":           {trigger: planner, rules: trusted, known: trigger.RequestFacts{Permission: "none"}},
		"a bot with write, not named":   {trigger: planner, known: trigger.RequestFacts{Permission: "write"}, want: &trigger.Refusal{Why: "planner[bot] is a bot and not one of allow-bots", Silent: true}},
		"edited since":                  {trigger: commentEvent("/ralph"), known: trigger.RequestFacts{Permission: "write", Edited: true}, want: &trigger.Refusal{Why: "#7 was edited after work on it was asked for: read it, and ask again"}},
		"the labeller counts, not otto": {trigger: labelled("ralph"), rules: trigger.Rules{AllowUsers: []string{"otto"}}, known: trigger.RequestFacts{Permission: "read"}, want: short("read")},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := trigger.Accept(c.trigger, trigger.Command{Verb: trigger.Run}, c.rules, c.known)
			if diff := cmp.Diff(c.want, refusal); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTaskIsWhatTheTriggerSaid(t *testing.T) {
	const comment = "From the comment by mia:\n\nUse Go."
	bodyOf := func(body string) trigger.Trigger {
		return with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Issue.Body = body })
	}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		words   string
		body    string
		added   string
	}{
		"the issue alone":          {labelled("ralph"), "", "It is missing.", ""},
		"words in a paragraph":     {commentEvent("/ralph"), "Use Go.", "It is missing.\n\nFrom the comment by mia:\n\nUse Go.", comment},
		"words behind blank lines": {bodyOf("It is missing. \t\r\n\r\n"), "Use Go.", "It is missing.\n\nFrom the comment by mia:\n\nUse Go.", comment},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := trigger.Command{Verb: trigger.Run, Words: c.words}
			got := c.trigger.Task(cmd)
			want := plan.Task{
				Kind: plan.KindIssue, Number: 7, Title: "Add a cart", Body: c.body, Added: c.added, Author: "otto",
				URL: "https://github.com/acme/shop/issues/7", Repo: "acme/shop",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
		})
	}
}

// Blank names in the rules allow no account, not even a deleted one without a name.
func TestBlankNamesAllowNoAccount(t *testing.T) {
	rules := trigger.Rules{AllowUsers: []string{"", " "}, AllowBots: []string{"", "[bot]"}}
	for _, who := range []trigger.Sender{{}, {Login: " "}, {IsBot: true}, {Login: "[bot]", IsBot: true}} {
		if rules.IsAllowed(who) {
			t.Errorf("the rules vouch for %+v", who)
		}
	}
}

func TestPeopleAreToldWhatIsHeard(t *testing.T) {
	const text = "comment `/ralph` or `/ralph resume -- words`; the label `ralph` does it, ref `ralph/x`, `/ralphs`"
	for want, rules := range map[string]trigger.Rules{
		text: {},
		"comment `@bot` or `@bot resume -- words`; the label `bot` does it, ref `ralph/x`, `/ralphs`": {Phrase: " @bot ", Label: "bot"},
	} {
		if got := rules.WithPhrases(text); got != want {
			t.Errorf("Worded = %q, want %q", got, want)
		}
	}
}
