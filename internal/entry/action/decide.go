package action

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// request is a request with the rules of the workflow. Its methods and the functions of this
// file decide: they make no calls and change nothing.
type request struct {
	inputs  config.Inputs
	trigger trigger.Trigger
	command trigger.Command
	task    plan.Task
}

func (r request) fixHint() string {
	if r.task.Kind == plan.KindIssue {
		return "correct the issue's text and ask again"
	}
	return "say it in other words and ask again"
}

func (r request) description() string {
	switch {
	case r.task.Number == 0:
		return "run"
	case r.task.Kind == plan.KindPull:
		return fmt.Sprintf("pull-%d", r.task.Number)
	}
	return fmt.Sprintf("issue-%d", r.task.Number)
}

// fromAFork: a branch here with a fork's commits could start workflows that hold secrets.
const fromAFork = "This pull request comes from a fork. ralph works only on branches of this repository: " +
	"a branch here with the fork's commits could start workflows that hold secrets. " +
	"A person with write permission can push the branch here, and ask there."

// place returns the base and the branch of the work: on a pull request its own branch.
func (r request) place() (base, branch string, err error) {
	if r.task.Kind != plan.KindPull {
		base = cmp.Or(r.inputs.BaseBranch, r.trigger.Repo.DefaultBranch)
		title := redact.New(r.inputs.Secrets...).String(r.task.Title) // as the journal has it
		return base, r.inputs.BranchPrefix + r.description() + "-" + plan.Slug(title, 40), nil
	}
	pull := r.trigger.Pull
	if pull.IsFork(r.trigger.Repo) {
		return "", "", declinedError{fromAFork}
	}
	return pull.BaseRef, pull.HeadRef, nil
}

// isOwnPull reports a pull request that ralph opened, whose text and draft state it may change.
func (r request) isOwnPull() bool {
	pull := r.trigger.Pull
	return r.task.Kind == plan.KindPull && pull.Ours && strings.HasPrefix(pull.HeadRef, r.inputs.BranchPrefix)
}

// policy adds the plan's own checks.
func (r request) policy(stories plan.Plan) policy.Policy {
	p := r.inputs.Policy
	p.Agent = agent.NameOf(r.inputs.AgentName, r.inputs.Agent.Command)
	p.SaveRun = true
	p.Buttons = r.inputs.Rules.Buttons
	p.NoPull = r.task.Kind == plan.KindPull && !r.isOwnPull() // there is one, and its words are its author's
	switch {
	case r.command.Verb == trigger.Plan, r.command.Verb == trigger.Approve:
		p.Approval = true
	case r.task.Update:
		p.Approval = false
	}
	own := len(p.Checks)
	timeout := policy.DefaultCheckTimeout
	if own > 0 {
		timeout = p.Checks[own-1].Timeout
	}
	p.Checks = policy.AddChecks(p.Checks, stories.VerifyCommands, timeout)
	for i := own; i < len(p.Checks); i++ {
		p.Checks[i].Added = true
	}
	return p
}

func (r request) isModelServed(model string) bool {
	models := r.inputs.Sandbox.Models
	return len(models) > 0 && egress.Allows(models, model)
}

func statusText(found savedState, busy bool) string {
	text := "Nothing has been done here yet. `/ralph` starts work."
	switch {
	case found.run.ID != "":
		text = view.Comment(found.run)
	case busy:
		text = "Work has started. No iteration has ended yet."
	}
	if busy {
		return fmt.Sprintf("[A job](%s) is at work on this. When an iteration last ended:\n\n%s",
			found.lease.Page, text)
	}
	return text
}

func numberedList(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "(%d) %s; ", i+1, cmp.Or(text, "see above"))
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// ref returns where the task's newest run is saved. Without a number, the task's text and base name it.
func (r request) ref() string {
	if r.task.Number != 0 {
		return issueRef(r.task.Number)
	}
	words := []string{r.inputs.BranchPrefix, r.inputs.BaseBranch, r.task.Title, r.task.Body}
	digest := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return fmt.Sprintf("refs/ralph/run-%x", digest[:8])
}

func issueRef(number int) string { return fmt.Sprintf("refs/ralph/issue-%d", number) }

// renewed returns new rules for a run that is resumed, or nil to keep its rules.
func (r request) renewed(asked job.NewRun, old journal.Run) *policy.Policy {
	if verdict.HasRules(old, asked.Policy) {
		return nil
	}
	renewed := verdict.RenewPolicy(asked.Policy, old, r.command.Flags.Model != "", r.isModelServed)
	return &renewed
}

// savedAs adds to the new rules of a run, if any, whether it is saved.
func savedAs(save bool, renewed *policy.Policy, old policy.Policy) *policy.Policy {
	if renewed == nil && old.SaveRun == save {
		return nil
	}
	rules := *cmp.Or(renewed, &old)
	rules.SaveRun = save
	return &rules
}
