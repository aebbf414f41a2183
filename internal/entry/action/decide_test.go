package action_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
)

var (
	repo  = trigger.Repo{Owner: "octo", Name: "greeter", DefaultBranch: "main"}
	issue = plan.Task{Kind: plan.KindIssue, Number: 7, Title: "Add a cart"}
	pull  = plan.Task{Kind: plan.KindPull, Number: 9, Title: "Mend it"}
)

func asked(in config.Inputs, t trigger.Trigger, verb trigger.Verb, task plan.Task) action.Request {
	in.BranchPrefix, t.Repo = "ralph/", repo
	return action.NewRequest(in, t, verb, task)
}

// Work goes to a branch of its own, or to that of the pull request, and never to
// one of a fork.
func TestPlace(t *testing.T) {
	from := func(head string) trigger.Trigger {
		return trigger.Trigger{Pull: trigger.Pull{Number: 9, HeadRef: "feature", HeadRepo: head, BaseRef: "next"}}
	}
	for name, c := range map[string]struct {
		request            action.Request
		base, branch, fail string
	}{
		"an issue":               {asked(config.Inputs{}, trigger.Trigger{}, trigger.Run, issue), "main", "ralph/issue-7-add-a-cart", ""},
		"another base":           {asked(config.Inputs{BaseBranch: "v2"}, trigger.Trigger{}, trigger.Run, issue), "v2", "ralph/issue-7-add-a-cart", ""},
		"a secret in the title":  {asked(config.Inputs{Secrets: []string{"add-a-secret"}}, trigger.Trigger{}, trigger.Run, plan.Task{Kind: plan.KindIssue, Number: 7, Title: "Mend add-a-secret now"}), "main", "ralph/issue-7-mend-now", ""},
		"a prompt":               {asked(config.Inputs{}, trigger.Trigger{}, trigger.Run, plan.Task{Title: "Mend the docs"}), "main", "ralph/run-mend-the-docs", ""},
		"a pull request":         {asked(config.Inputs{BaseBranch: "v2"}, from("octo/greeter"), trigger.Run, pull), "next", "feature", ""},
		"one from a fork":        {asked(config.Inputs{}, from("eve/greeter"), trigger.Run, pull), "", "", "comes from a fork"},
		"one whose fork is gone": {asked(config.Inputs{}, from(""), trigger.Run, pull), "", "", "comes from a fork"},
	} {
		base, branch, err := action.Place(c.request)
		if base != c.base || branch != c.branch || (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%s: place = %q, %q, %v, want %q, %q, %q", name, base, branch, err, c.base, c.branch, c.fail)
		}
	}
}

// A plan's checks come on top of the workflow's, and are marked as added.
func TestThePolicyOfARequest(t *testing.T) {
	own := policy.Check{Name: "test", Command: "make test", Timeout: policy.Duration(time.Minute)}
	in := config.Inputs{AgentName: "codex", Policy: policy.Policy{Checks: []policy.Check{own}}}
	with := func(change func(*policy.Policy)) policy.Policy {
		p := policy.Policy{Agent: "codex", SaveRun: true, Checks: []policy.Check{own}}
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		verb  trigger.Verb
		task  plan.Task
		added []string
		want  policy.Policy
	}{
		"a run":           {trigger.Run, issue, nil, with(func(*policy.Policy) {})},
		"a plan":          {trigger.Plan, issue, nil, with(func(p *policy.Policy) { p.Approval = true })},
		"an approval":     {trigger.Approve, issue, nil, with(func(p *policy.Policy) { p.Approval = true })},
		"a pull request":  {trigger.Run, pull, nil, with(func(p *policy.Policy) { p.NoPull = true })},
		"a check of ours": {trigger.Run, issue, []string{"make test"}, with(func(*policy.Policy) {})},
		"checks of the plan": {trigger.Run, issue, []string{"sh new.sh"}, with(func(p *policy.Policy) {
			p.Checks = append(p.Checks, policy.Check{Name: "sh new.sh", Command: "sh new.sh", Timeout: own.Timeout, Added: true})
		})},
	} {
		got := action.PolicyOf(asked(in, trigger.Trigger{}, c.verb, c.task), plan.Plan{VerifyCommands: c.added})
		if diff := cmp.Diff(any(c.want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The newest run is kept by the task's number, else by what is asked and where its
// work goes.
func TestRef(t *testing.T) {
	of := func(in config.Inputs, task plan.Task) string {
		return action.Ref(asked(in, trigger.Trigger{}, trigger.Run, task))
	}
	if got := of(config.Inputs{}, issue); got != "refs/ralph/issue-7" {
		t.Errorf("ref = %q", got)
	}
	prompt := plan.Task{Title: "Mend", Body: "the docs"}
	seen := map[string]bool{of(config.Inputs{}, prompt): true, of(config.Inputs{}, prompt): true}
	for _, other := range []string{of(config.Inputs{BaseBranch: "v2"}, prompt), of(config.Inputs{}, plan.Task{Title: "Mend", Body: "the code"}), of(config.Inputs{}, plan.Task{Title: "Mendthe docs"})} {
		seen[other] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d refs of 4 requests: %v", len(seen), seen)
	}
}

// A status says what was done, and which job is at work.
func TestStatusText(t *testing.T) {
	saved := journal.Run{ID: "r1", Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "Add a cart"}}}}
	for name, c := range map[string]struct {
		run  journal.Run
		busy bool
		want []string
	}{
		"nothing":          {want: []string{"Nothing has been done here yet."}},
		"a job just began": {busy: true, want: []string{"[A job](page) is at work", "No iteration has ended yet."}},
		"a run":            {run: saved, want: []string{"Add a cart"}},
		"a job at a run":   {run: saved, busy: true, want: []string{"[A job](page) is at work", "Add a cart"}},
	} {
		got := action.StatusText(c.run, "page", c.busy)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: status = %q, want %q in it", name, got, want)
			}
		}
		if !c.busy && strings.Contains(got, "at work on this") {
			t.Errorf("%s: status = %q names a job", name, got)
		}
	}
}

// A run that stopped short makes the job red only where the workflow wants it to.
func TestExit(t *testing.T) {
	for _, c := range []struct {
		reason             policy.Reason
		never, usual, stop int
	}{
		{"", fault.ExitDone, fault.ExitDone, fault.ExitDone},
		{policy.AllStoriesPassed, fault.ExitDone, fault.ExitDone, fault.ExitDone},
		{policy.NeedsInput, fault.ExitDone, fault.ExitDone, fault.ExitDone},
		{policy.MaxIterations, fault.ExitDone, fault.ExitDone, fault.ExitStopped},
		{policy.VerificationFailed, fault.ExitDone, fault.ExitDone, fault.ExitStopped},
		{policy.FatalError, fault.ExitDone, fault.ExitUsage, fault.ExitUsage},
	} {
		var ended job.Outcome
		if c.reason != "" {
			ended.Run.Stop = &journal.RunStopped{Reason: c.reason}
		}
		for failOn, want := range map[config.FailOn]int{config.FailOnNever: c.never, config.FailOnError: c.usual, config.FailOnStopped: c.stop} {
			if got := action.Exit(ended, failOn); got != want {
				t.Errorf("Exit(%s) of %q = %d, want %d", failOn, c.reason, got, want)
			}
		}
	}
}
