package action

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// request is what an event asks for, with the facts that were read for it: by parse, and then by gatherer. The
// functions of this file decide with it. They make no calls.
type request struct {
	inputs     *config.Inputs
	payload    []byte // of the event
	trigger    trigger.Trigger
	relayed    github.Relayed // by the server of a GitHub App, if it was
	onlyNumber bool           // the issue is known by its number alone, and has to be fetched

	command   trigger.Command
	task      plan.Task
	redChecks []trigger.Check // what to work on, where CI asks
	source    string          // the issue's text, as written
	shown     []string        // the addresses that it shows
	attached  []attachment.File
	removed   clean.Removed   // from what the agent reads of the request
	notices   []journal.Noted // what people should know of what was read
}

// readCommand reads which command the event gives, or returns why it is not for ralph.
func (r *request) readCommand() (why string) {
	r.command, why = trigger.CommandOf(r.trigger, r.inputs.Rules)
	if r.command.Verb == trigger.Prove && r.inputs.Mode == config.Work {
		return "a workflow with `mode: prove` answers that"
	}
	return why
}

// lacksText reports whether the work needs the text of the issue, which the server of a GitHub App does not send.
func (r *request) lacksText() bool {
	if r.relayed.ID == "" || !r.command.Verb.UsesAgent() {
		return false
	}
	return r.trigger.Issue.Number != 0 && !r.trigger.IsOnPull()
}

// tighten applies the flags of the command.
func (r *request) tighten() {
	r.command, r.inputs.Policy = r.command.Tighten(r.inputs.Policy, r.isModelServed)
}

// needsPermission reports whether GitHub is asked for the permission of the asker.
func (r *request) needsPermission() bool {
	return !r.trigger.IsCI() && !r.inputs.Rules.IsAllowed(r.trigger.Asker())
}

// setPull makes the trigger one about a pull request, which no person asks for.
func (r *request) setPull(pull github.Pull) {
	r.trigger.Sender = trigger.Sender{}
	r.trigger.Issue = trigger.Issue{
		Number: pull.Number,
		Title:  pull.Title,
		URL:    pull.URL,
		State:  "open",
		IsPull: true,
	}
}

// newRun returns the run that the request asks for.
func (r *request) newRun(env environment, now time.Time) (job.NewRun, error) {
	stories, source, err := plan.Draft(r.task)
	if err != nil && !r.command.Verb.ContinuesRun() { // a run that continues has a plan
		return job.NewRun{}, fault.Usage(r.task.String()+" cannot be turned into stories",
			cmp.Or(fault.Hint(err), "correct the text and ask again"), err)
	}
	base, branch, err := r.place()
	if err != nil {
		return job.NewRun{}, err
	}
	var pull *journal.PullOpened
	if r.isOwnPull() {
		pull = &journal.PullOpened{Number: r.task.Number, URL: r.task.URL, Draft: r.trigger.Pull.Draft}
	}
	notes := r.notices
	if len(r.removed) > 0 {
		notes = append(notes, journal.Noted{What: "removed from the issue's text: " + r.removed.String()})
	}
	asker := r.trigger.Asker()
	began := journal.RunBegan{
		Run:      workspace.RunName(r.description(), now),
		Policy:   r.policy(stories),
		Task:     r.task,
		Plan:     stories,
		Source:   string(source),
		Vague:    plan.IsVague(r.task, stories, source),
		BaseRef:  base,
		Branch:   branch,
		Pull:     pull,
		Links:    journal.Links{Repo: env.repo(), Log: env.log()},
		By:       journal.Person{Login: asker.Login, ID: asker.ID},
		Attached: attachment.Digests(r.attached),
	}
	return job.NewRun{RunBegan: began, Notes: notes, DetectChecks: true}, nil
}

func (r *request) description() string {
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
func (r *request) place() (base, branch string, err error) {
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
func (r *request) isOwnPull() bool {
	pull := r.trigger.Pull
	return r.task.Kind == plan.KindPull && pull.Ours && strings.HasPrefix(pull.HeadRef, r.inputs.BranchPrefix)
}

// policy adds the plan's own checks.
func (r *request) policy(stories plan.Plan) policy.Policy {
	p := r.inputs.Policy
	p.Agent = agent.NameOf(r.inputs.AgentName, r.inputs.Agent.Command)
	p.SaveRun = true
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

func (r *request) isModelServed(model string) bool {
	models := r.inputs.Sandbox.Models
	return len(models) > 0 && egress.Allows(models, model)
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
func (r *request) ref() string {
	if r.task.Number != 0 {
		return fmt.Sprintf("refs/ralph/issue-%d", r.task.Number)
	}
	words := []string{r.inputs.BranchPrefix, r.inputs.BaseBranch, r.task.Title, r.task.Body}
	digest := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return fmt.Sprintf("refs/ralph/run-%x", digest[:8])
}

// renewed returns new rules for a run that is resumed, or nil to keep its rules.
func (r *request) renewed(asked job.NewRun, old journal.Run) *policy.Policy {
	if verdict.HasRules(old, asked.Policy) {
		return nil
	}
	renewed := verdict.RenewPolicy(asked.Policy, old, r.command.Flags.Model != "", r.isModelServed)
	return &renewed
}

// leaveOut leaves out attachments that people did not see with the plan, and returns a line for each.
func (r *request) leaveOut(known []string) (lines []string) {
	kept := attachment.Known(r.attached, known)
	for i, file := range kept {
		if file.Why != r.attached[i].Why {
			lines = append(lines, "left out: the attachment "+view.Code(file.Label, 100)+": "+file.Why)
		}
	}
	r.attached = kept
	return lines
}
