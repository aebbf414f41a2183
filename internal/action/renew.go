package action

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// renewed are the rules of now for a run that was begun by others: what was
// found out about the base then is not looked for again, the checks that its plan
// asks for are those of its plan, whatever the issue says by now, and a plan that
// was to be approved first still is. Who asked for a draft still wants one, and
// what whoever asked for a plan has set goes for its work too.
func (v *visit) renewed(now policy.Policy, old journal.Run) *policy.Policy {
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
	if !verdict.Unapproved(old) {
		return &now
	}
	now.Limits = now.Limits.Below(then.Limits)
	if p, err := (trigger.Flags{Model: then.Model}).Tighten(now, v.offered); err == nil && v.command.Flags.Model == "" {
		now = p
	}
	return &now
}

// offered tells whether a comment may choose that model.
func (v *visit) offered(model string) bool {
	models := v.inputs.Wall.Models
	return len(models) > 0 && egress.Allows(models, model)
}
