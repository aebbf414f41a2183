package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A run is done only under the rules that it has now.
func TestHasRules(t *testing.T) {
	rules := policy.ForPreset(policy.ByStories)
	for name, c := range map[string]struct {
		change func(*policy.Policy)
		old    func(*journal.Run)
		want   bool
	}{
		"the same":                 {want: true},
		"another limit":            {change: func(p *policy.Policy) { p.Limits.Iterations++ }},
		"not to be kept on GitHub": {old: func(r *journal.Run) { r.Policy.SaveRun = true }, want: true},
		"approved since":           {old: func(r *journal.Run) { r.Policy.Approval, r.Planning.Approved = true, "ada" }, want: true},
		"still to be approved":     {old: func(r *journal.Run) { r.Policy.Approval = true }},
		"checks were detected since": {
			old:  func(r *journal.Run) { r.Policy.Checks = []policy.Check{{Command: "make", Detected: true}} },
			want: true,
		},
	} {
		old, p := journal.Run{Policy: rules}, rules
		if c.old != nil {
			c.old(&old)
		}
		if c.change != nil {
			c.change(&p)
		}
		if got := verdict.HasRules(old, p); got != c.want {
			t.Errorf("%s: HasRules = %t, want %t", name, got, c.want)
		}
	}
}

// A run continues under the current rules, with the checks and requests it had.
func TestRenewPolicy(t *testing.T) {
	check := func(command string, added bool) policy.Check {
		return policy.Check{Name: command, Command: command, Added: added}
	}
	for name, c := range map[string]struct {
		now    policy.Policy
		then   policy.Policy
		plan   bool // waits for approval
		chosen bool
		want   policy.Policy
	}{
		"its checks, if none are configured now": {
			then: policy.Policy{Checks: []policy.Check{check("make", false), check("sh plan.sh", true)}},
			want: policy.Policy{Checks: []policy.Check{check("make", false), check("sh plan.sh", true)}},
		},
		"the current checks, and those of its plan": {
			now:  policy.Policy{Checks: []policy.Check{check("npm test", false), check("sh new.sh", true)}},
			then: policy.Policy{Checks: []policy.Check{check("make", false), check("sh plan.sh", true)}},
			want: policy.Policy{Checks: []policy.Check{check("npm test", false), check("sh plan.sh", true)}},
		},
		"a draft":                   {then: policy.Policy{Draft: true}, want: policy.Policy{Draft: true}},
		"a plan to be approved now": {now: policy.Policy{Approval: true}, want: policy.Policy{Approval: true}},
		"the limits of the plan's requester": {
			plan: true, now: policy.Policy{Limits: policy.Limits{Iterations: 10}},
			then: policy.Policy{Approval: true, Limits: policy.Limits{Iterations: 3}},
			want: policy.Policy{Approval: true, Limits: policy.Limits{Iterations: 3}},
		},
		"the current limits without a plan to approve": {
			now: policy.Policy{Limits: policy.Limits{Iterations: 10}}, then: policy.Policy{Limits: policy.Limits{Iterations: 3}},
			want: policy.Policy{Limits: policy.Limits{Iterations: 10}},
		},
		"the model of the plan's requester": {
			plan: true, then: policy.Policy{Approval: true, Model: "haiku"}, want: policy.Policy{Approval: true, Model: "haiku"},
		},
		"a model that is chosen now": {
			plan: true, chosen: true, then: policy.Policy{Approval: true, Model: "haiku"}, want: policy.Policy{Approval: true},
		},
		"a model that is not offered any more": {
			plan: true, then: policy.Policy{Approval: true, Model: "opus"}, want: policy.Policy{Approval: true},
		},
	} {
		old := journal.Run{ID: "r1", Policy: c.then, Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}}
		if verdict.NeedsApproval(old) != c.plan {
			t.Fatalf("%s: NeedsApproval = %t", name, !c.plan)
		}
		got := verdict.RenewPolicy(c.now, old, c.chosen, func(model string) bool { return model == "haiku" })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
