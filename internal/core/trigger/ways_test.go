package trigger_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// reviewEvent returns the event of mia's review of a pull request.
func reviewEvent(state string) trigger.Trigger {
	return with(labelled(""), func(t *trigger.Trigger) {
		t.Event, t.Action, t.Issue.IsPull = "pull_request_review", "submitted", true
		t.Review = trigger.Review{ID: 9, State: state, Body: "Not yet."}
	})
}

// remarked returns the event of mia's comment on a line of a pull request.
func remarked(body string) trigger.Trigger {
	return with(commentEvent(body), func(t *trigger.Trigger) {
		t.Event, t.Issue.IsPull = "pull_request_review_comment", true
		t.Comment.Thread = trigger.Thread{ID: 1, Path: "cart.go", Line: 12}
	})
}

// dispatched returns an event without content.
func dispatched(event string, given trigger.Inputs) trigger.Trigger {
	return trigger.Trigger{Event: event, Repo: trigger.Repo{Owner: "acme", Name: "shop"}, Inputs: given, Sender: trigger.Sender{Login: "mia"}}
}

// checked returns the event of an ended check.
func checked(conclusion, branch string) trigger.Trigger {
	t := dispatched("check_suite", trigger.Inputs{})
	t.CI = trigger.CI{SHA: "c1", Branch: branch, Conclusion: conclusion}
	return t
}

func TestOtherWaysIn(t *testing.T) {
	bot := func(t *trigger.Trigger) { t.Sender = trigger.Sender{Login: "copilot[bot]", IsBot: true} }
	prompt := trigger.Inputs{Prompt: "Mend the docs"}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		verb    trigger.Verb
		why     string
	}{
		"changes are asked for":       {trigger: reviewEvent("changes_requested"), verb: trigger.Run},
		"a review that approves":      {trigger: reviewEvent("approved"), why: `a review that says "approved" asks for no changes`},
		"a review that was dismissed": {trigger: with(reviewEvent("changes_requested"), func(t *trigger.Trigger) { t.Action = "dismissed" }), why: `a review that is "dismissed" starts nothing: only a new one does`},
		"a review of our own":         {trigger: with(reviewEvent("changes_requested"), func(t *trigger.Trigger) { t.Review.Ours = true }), why: "the review is our own"},
		"a review by a bot":           {trigger: with(reviewEvent("changes_requested"), bot), why: "copilot[bot] is a bot and not one of allow-bots"},
		"a review of a closed one":    {trigger: with(reviewEvent("changes_requested"), func(t *trigger.Trigger) { t.Issue.State = "closed" }), why: "#7 is closed: open it first"},

		"a remark that calls us": {trigger: remarked("/ralph stop"), verb: trigger.Stop},

		"a prompt by hand":           {trigger: dispatched("workflow_dispatch", prompt), verb: trigger.Run},
		"an issue by its number":     {trigger: dispatched("repository_dispatch", trigger.Inputs{Issue: 7}), verb: trigger.Run},
		"nothing at night":           {trigger: dispatched("schedule", trigger.Inputs{}), why: `the event "schedule" starts nothing`},
		"a prompt without an author": {trigger: with(dispatched("schedule", prompt), func(t *trigger.Trigger) { t.Sender.Login = "" }), why: "the account that asked no longer exists"},
		"a prompt on an opened one":  {trigger: with(labelled(""), func(t *trigger.Trigger) { t.Action, t.Inputs = "opened", prompt }), verb: trigger.Run},
		"a red check":                {trigger: checked("failure", "ralph/x"), verb: trigger.Run},
		"a green check":              {trigger: checked("success", "ralph/x"), why: `the checks ended with "success"`},
		"a red check of a fork":      {trigger: checked("failure", ""), why: "the commit is the head of no branch of this repository"},
		"a red check elsewhere":      {trigger: checked("failure", "main"), why: "the branch is not one of ralph's"},
		// Otherwise every comment would start a run in a workflow with a prompt.
		"a prompt is not for comments": {trigger: with(commentEvent("hello"), func(t *trigger.Trigger) { t.Inputs = prompt }), why: `the comment's first line does not begin with "/ralph"`},
		"a prompt is not for labels":   {trigger: with(labelled("bug"), func(t *trigger.Trigger) { t.Inputs = prompt }), why: `the label is "bug", not "ralph"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, why := trigger.CommandOf(c.trigger, trigger.Rules{})
			if cmd.Verb != c.verb || why != c.why {
				t.Errorf("Want = %q, %q, want %q, %q", cmd.Verb, why, c.verb, c.why)
			}
		})
	}
}

func TestWhosePermissionCounts(t *testing.T) {
	otto := func(t *trigger.Trigger) { t.Sender = trigger.Sender{Login: "otto"} }
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		want    trigger.Sender
	}{
		"the labeller's":               {with(labelled("ralph"), otto), trigger.Sender{Login: "otto"}},
		"the comment's author's":       {with(commentEvent("/ralph"), otto), trigger.Sender{Login: "mia"}},
		"the reviewer's":               {with(reviewEvent("changes_requested"), otto), trigger.Sender{Login: "otto"}},
		"a bot that speaks for a user": {with(commentEvent("/ralph"), func(t *trigger.Trigger) { t.Sender.IsBot = true }), trigger.Sender{Login: "mia", IsBot: true}},
	} {
		if got := c.trigger.Asker(); got != c.want {
			t.Errorf("%s: Asker = %+v, want %+v", name, got, c.want)
		}
	}
}
