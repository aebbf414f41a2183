package verdict

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// IsSameTask reports whether a task and its rules are those of an older run, which then continues. Given approval
// does not count, nor whether GitHub can save a run.
func IsSameTask(task plan.Task, p policy.Policy, old journal.Run) bool {
	p.Approval = p.Approval || old.Approved != ""
	p.SaveRun = old.Policy.SaveRun
	now, err := json.Marshal(p)
	then, worse := json.Marshal(old.Policy.Configured())
	return task.IsSame(old.Task) && bytes.Equal(now, then) && err == nil && worse == nil
}

// RenewPolicy returns the current rules for a run that began under others. It keeps the base's and the plan's checks,
// the need for approval, a requested draft, and the limits and model that a plan's requester chose, if still offered.
func RenewPolicy(now policy.Policy, old journal.Run, chosen bool, offered func(model string) bool) policy.Policy {
	then := old.Policy
	added := func(c policy.Check) bool { return c.Added }
	named := slices.DeleteFunc(slices.Clone(now.Checks), added)
	if len(named) == 0 {
		named = slices.DeleteFunc(slices.Clone(then.Checks), added)
	}
	for _, check := range then.Checks {
		if check.Added {
			named = append(named, check)
		}
	}
	now.Checks, now.Approval, now.Draft = named, now.Approval || then.Approval, now.Draft || then.Draft
	if !NeedsApproval(old) {
		return now
	}
	now.Limits = now.Limits.Min(then.Limits)
	if p, err := (trigger.Flags{Model: then.Model}).Tighten(now, offered); err == nil && !chosen {
		now = p
	}
	return now
}
