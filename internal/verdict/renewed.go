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

// Same tells whether a task by some rules is what an older run was asked: then
// whoever asks means that run. Words or rules that are new would be lost on it. That
// its plan was to be approved first is no rule once it was, and whether a run can be
// kept on GitHub is for GitHub to say each time.
func Same(task plan.Task, p policy.Policy, old journal.Run) bool {
	p.Approval = p.Approval || old.Approved != ""
	p.Shelve = old.Policy.Shelve
	now, err := json.Marshal(p)
	then, worse := json.Marshal(old.Policy.Named())
	return task.Same(old.Task) && bytes.Equal(now, then) && err == nil && worse == nil
}

// Renewed are the rules of now for a run that was begun by others: what was
// found out about the base then is not looked for again, the checks that its plan
// asks for are those of its plan, whatever the issue says by now, and a plan that
// was to be approved first still is. Who asked for a draft still wants one, and
// what whoever asked for a plan has set goes for its work too: its model unless
// another was chosen, as long as it is offered.
func Renewed(now policy.Policy, old journal.Run, chosen bool, offered func(model string) bool) policy.Policy {
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
	if !Unapproved(old) {
		return now
	}
	now.Limits = now.Limits.Below(then.Limits)
	if p, err := (trigger.Flags{Model: then.Model}).Tighten(now, offered); err == nil && !chosen {
		now = p
	}
	return now
}
