package trigger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// says returns a comment by mia, an hour before noon.
func says(text string) trigger.ContextComment {
	at := noon.Add(-time.Hour)
	return trigger.ContextComment{ID: 5, Author: trigger.Sender{Login: "mia"}, At: at, Edited: at, Text: text}
}

func TestWhatIsHeard(t *testing.T) {
	change := func(change func(*trigger.ContextComment)) trigger.ContextComment {
		h := says("Use a map.")
		change(&h)
		return h
	}
	ear := trigger.ContextFilter{Until: noon, Rules: trigger.Rules{AllowBots: []string{"planner"}}, TriggerID: 8, TriggerReview: 3}
	for name, c := range map[string]struct {
		heard trigger.ContextComment
		want  trigger.Inclusion
	}{
		"before":                  {says("Use a map."), trigger.Included},
		"edited at that second":   {change(func(h *trigger.ContextComment) { h.Edited = noon }), trigger.TooLate},
		"edited after":            {change(func(h *trigger.ContextComment) { h.Edited = noon.Add(time.Hour) }), trigger.TooLate},
		"written at that second":  {change(func(h *trigger.ContextComment) { h.At, h.Edited = noon, noon }), trigger.TooLate},
		"written after":           {change(func(h *trigger.ContextComment) { h.At = noon.Add(time.Hour) }), trigger.TooLate},
		"without a date":          {change(func(h *trigger.ContextComment) { h.At = time.Time{} }), trigger.TooLate},
		"without a date of edits": {change(func(h *trigger.ContextComment) { h.Edited = time.Time{} }), trigger.TooLate},
		"of the review that asks": {change(func(h *trigger.ContextComment) { h.At, h.Edited, h.Review = noon, noon.Add(time.Second), 3 }), trigger.Included},
		"of another review":       {change(func(h *trigger.ContextComment) { h.At, h.Edited, h.Review = noon, noon, 4 }), trigger.TooLate},
		"a bot":                   {change(func(h *trigger.ContextComment) { h.Author = trigger.Sender{Login: "ci[bot]", IsBot: true} }), trigger.FromBot},
		"a bot that is named":     {change(func(h *trigger.ContextComment) { h.Author = trigger.Sender{Login: "planner[bot]", IsBot: true} }), trigger.Included},
		"ours":                    {change(func(h *trigger.ContextComment) { h.Ours = true }), trigger.NoContent},
	} {
		if got := ear.Classify(c.heard); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// An edit in the second of a request may have come after it.
func TestEditsInTheSecondOfARequest(t *testing.T) {
	asked := trigger.Trigger{At: noon}
	for at, want := range map[time.Time]bool{{}: false, noon.Add(-time.Second): false, noon: true, noon.Add(time.Second): true} {
		if got := asked.IsEditedAt(at); got != want {
			t.Errorf("edited at %s: %t, want %t", at, got, want)
		}
	}
	if (trigger.Trigger{}).IsEditedAt(noon) {
		t.Error("a request without a time: edited, want not")
	}
}

func TestLotsAreSaid(t *testing.T) {
	for want, lots := range map[string]trigger.InclusionCounts{
		"":                            {trigger.NoContent: 3},
		"comments read as context: 2": {trigger.Included: 2, trigger.NoContent: 1},
		"comments read as context: 0; left out: 1 by people without write permission": {trigger.NoPermission: 1},
		"comments read as context: 1; left out: 2 by people without write permission, 8 by people whose permission was not checked, 3 written or edited after the run was asked for, " +
			"6 by bots, 7 over the limit": {
			trigger.Included: 1, trigger.NoPermission: 2, trigger.Unchecked: 8, trigger.TooLate: 3, trigger.FromBot: 6, trigger.OverLimit: 7,
		},
	} {
		if got := lots.String(); got != want {
			t.Errorf("%v is said as %q, want %q", lots, got, want)
		}
	}
}

// on returns a comment in a thread.
func on(thread, review int64, text string) trigger.ContextComment {
	h := says(text)
	h.ID, h.Thread, h.Review = 10*thread, trigger.Thread{ID: thread, Path: "cart.go", Line: int(thread), Hunk: "@@ -1 +1 @@\n+x"}, review
	return h
}

func TestWhatAPullRequestIsToBecome(t *testing.T) {
	pull := func(t trigger.Trigger) trigger.Trigger {
		t.Issue.IsPull = true
		return t
	}
	all := trigger.TaskContext{
		Comments:    []trigger.ContextComment{says("Nice."), on(11, 9, "Use\na map."), on(12, 8, "Typo."), on(13, 9, "Old.")},
		OpenThreads: map[int64]bool{11: true, 12: true},
		Failing:     []trigger.Check{{Name: "te`st", Summary: "cart_test.go:3: boom"}},
	}
	checks := plan.Remark{Text: "The check `te'st` passes."}
	remark := func(thread int64, text string) plan.Remark {
		return plan.Remark{Thread: thread, Path: "cart.go", Line: int(thread), By: "mia", Text: text, ID: 10 * thread}
	}
	words := remark(12, "Use Go.")
	words.ID = remarked("").Comment.ID
	review := plan.Remark{By: "mia", Text: "Not yet."}
	for name, c := range map[string]struct {
		trigger trigger.Trigger
		words   string
		found   trigger.TaskContext
		body    string
		remarks []plan.Remark
		nothing bool
	}{
		"all that is open": {trigger: pull(commentEvent("/ralph")), found: all, remarks: []plan.Remark{remark(11, "Use\na map."), remark(12, "Typo."), checks}},
		"what was said":    {trigger: pull(commentEvent("/ralph -- Use Go.")), words: "Use Go.", found: all, body: "From the comment by mia:\n\nUse Go."},
		"the thread": {
			trigger: with(remarked("/ralph"), func(t *trigger.Trigger) { t.Comment.Thread.ID = 12 }), found: all, remarks: []plan.Remark{remark(12, "Typo.")},
		},
		"what was said in a thread": {
			trigger: with(remarked("/ralph -- Use Go."), func(t *trigger.Trigger) { t.Comment.Thread.ID = 12 }), words: "Use Go.", found: all,
			body: "From the comment on cart.go:12 by mia:\n\nUse Go.", remarks: []plan.Remark{words},
		},
		"the review": {
			trigger: reviewEvent("changes_requested"), found: all, body: "From the review by mia:\n\nNot yet.",
			remarks: []plan.Remark{remark(11, "Use\na map."), remark(13, "Old."), review},
		},
		"nothing that is open": {trigger: pull(commentEvent("/ralph")), found: trigger.TaskContext{Comments: []trigger.ContextComment{on(14, 0, "Old.")}}, nothing: true},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := trigger.Command{Verb: trigger.Run, Words: c.words}
			got, ok := c.trigger.AddContext(c.trigger.Task(cmd), cmd, c.found)
			if ok == c.nothing {
				t.Errorf("there is something to do: %t", ok)
			}
			if got.Kind != plan.KindPull || got.Body != c.body {
				t.Errorf("%s with the body\n%s\nwant\n%s", got.Kind, got.Body, c.body)
			}
			if diff := cmp.Diff(c.remarks, got.Remarks); diff != "" {
				t.Errorf("remarks (-want +got):\n%s", diff)
			}
			if !c.nothing {
				if _, _, err := plan.Draft(got); err != nil {
					t.Errorf("it gives no plan: %v", err)
				}
			}
		})
	}
}

func TestContextIsNoTask(t *testing.T) {
	found := trigger.TaskContext{Comments: []trigger.ContextComment{says("Use a map."), on(11, 0, "Here.")}, Failing: []trigger.Check{{Name: "test", Summary: "boom"}}}
	task := labelled("ralph").Task(trigger.Command{Verb: trigger.Run})
	got, ok := labelled("ralph").AddContext(task, trigger.Command{Verb: trigger.Run}, found)
	want := task
	want.Context = []plan.Comment{
		{Author: "mia", At: noon.Add(-time.Hour), Text: "Use a map."},
		{Author: "mia", At: noon.Add(-time.Hour), Where: "cart.go:11", Hunk: "@@ -1 +1 @@\n+x", Text: "Here."},
		{Where: "the check test", Text: "boom"},
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%t, task (-want +got):\n%s", ok, diff)
	}
	if !task.IsSame(got) {
		t.Error("what others say makes it another task")
	}
}

func TestPromptsAreTasks(t *testing.T) {
	const prompt = "\nMend the docs\n\n- [ ] README\n"
	want := plan.Task{Kind: plan.KindPrompt, Title: "Mend the docs", Body: prompt, Author: "mia", Repo: "acme/shop"}
	got := dispatched("schedule", trigger.Inputs{Prompt: prompt}).Task(trigger.Command{Verb: trigger.Run})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
}
