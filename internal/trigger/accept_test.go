package trigger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/trigger"
)

func TestWhoMayRun(t *testing.T) {
	trusted := trigger.Rules{AllowUsers: []string{"Mia", " "}, AllowBots: []string{" Planner[BOT] "}}
	planner := with(labelled("ralph"), func(t *trigger.Trigger) {
		t.Sender = trigger.Sender{Login: "planner[bot]", IsBot: true}
	})
	short := func(has string) *trigger.Refusal {
		return &trigger.Refusal{Why: "mia needs write permission to start a run here and has " + has +
			"; allow-users can name people without"}
	}
	for name, c := range map[string]struct {
		trigger    trigger.Trigger
		rules      trigger.Rules
		permission trigger.Permission
		want       *trigger.Refusal
	}{
		"admin":                         {trigger: labelled("ralph"), permission: "admin"},
		"maintain":                      {trigger: labelled("ralph"), permission: "maintain"},
		"write":                         {trigger: labelled("ralph"), permission: "write"},
		"triage may label, not run":     {trigger: labelled("ralph"), permission: "triage", want: short("triage")},
		"read":                          {trigger: commented("/ralph"), permission: "read", want: short("read")},
		"none":                          {trigger: commented("/ralph"), permission: "none", want: short("none")},
		"not even an answer":            {trigger: commented("/ralph"), want: short("none")},
		"a word GitHub never said":      {trigger: labelled("ralph"), permission: "owner", want: short("owner")},
		"a user who is named":           {trigger: commented("/ralph"), rules: trusted, permission: "none"},
		"a bot that is named":           {trigger: planner, rules: trusted, permission: "none"},
		"a bot with write, not named":   {trigger: planner, permission: "write", want: &trigger.Refusal{Why: "planner[bot] is a bot and not one of allow-bots", Silent: true}},
		"the labeller counts, not otto": {trigger: labelled("ralph"), rules: trigger.Rules{AllowUsers: []string{"otto"}}, permission: "read", want: short("read")},
	} {
		t.Run(name, func(t *testing.T) {
			_, refusal := trigger.Accept(c.trigger, trigger.Command{Verb: trigger.Run}, c.rules, c.permission)
			if diff := cmp.Diff(c.want, refusal); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTaskIsWhatTheTriggerSaid(t *testing.T) {
	bodyOf := func(body string) trigger.Trigger {
		return with(commented("/ralph"), func(t *trigger.Trigger) { t.Issue.Body = body })
	}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		words   string
		body    string
	}{
		"the issue alone":          {labelled("ralph"), "", "It is missing."},
		"words in a paragraph":     {commented("/ralph"), "Use Go.", "It is missing.\n\nFrom the comment by mia:\n\nUse Go."},
		"words behind blank lines": {bodyOf("It is missing. \t\r\n\r\n"), "Use Go.", "It is missing.\n\nFrom the comment by mia:\n\nUse Go."},
		"words and an empty body":  {bodyOf(" \r\n"), "Use Go.", "From the comment by mia:\n\nUse Go."},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := trigger.Command{Verb: trigger.Run, Words: c.words}
			got, refusal := trigger.Accept(c.trigger, cmd, trigger.Rules{}, trigger.Write)
			if refusal != nil {
				t.Fatalf("refused: %s", refusal.Why)
			}
			want := plan.Task{
				Kind: plan.KindIssue, Number: 7, Title: "Add a cart", Body: c.body, Author: "otto",
				URL: "https://github.com/acme/shop/issues/7", Repo: "acme/shop",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
		})
	}
}

// Names that were left blank name nobody, least of all an account that is gone.
func TestBlankNamesVouchForNobody(t *testing.T) {
	rules := trigger.Rules{AllowUsers: []string{"", " "}, AllowBots: []string{"", "[bot]"}}
	for _, who := range []trigger.Sender{{}, {Login: " "}, {IsBot: true}, {Login: "[bot]", IsBot: true}} {
		if rules.Vouches(who) {
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
		if got := rules.Worded(text); got != want {
			t.Errorf("Worded = %q, want %q", got, want)
		}
	}
}
