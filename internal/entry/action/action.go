// Package action is the entry for GitHub Actions. It reads the event and the
// inputs, decides with package trigger whether to start, runs the job, and
// reports on GitHub. It holds no rules of its own.
package action

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/ledger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/trace"
)

// Action is one run of the Action.
type Action struct {
	Getenv  func(string) string
	Inputs  []string  // the names of those that the workflow sets
	Out     io.Writer // the job's log
	Now     func() time.Time
	Exec    func(context.Context, process.Command) (process.Result, error)
	Self    string              // the path of this program
	Version string              // and its version
	Hard    <-chan struct{}     // closed: end now, as if killed
	Pace    *github.RetryPolicy // nil: GitHub's own
	Every   time.Duration       // the least time between two edits of a comment
	Keep    bool                // leave the trees behind
	Plain   bool                // Out is read by people, and by no runner: it gets no groups or annotations
	updated []int               // the pull requests that this push to their base was for
}

// event is the event that started the Action, with its inputs. It is read and logged without a call to GitHub.
type event struct {
	Action
	request
	toolkit    *githubactions.Action
	env        environment
	payload    []byte // of the event
	secrets    *redact.Redactor
	notices    []journal.Noted // what people should know of what was read for it
	relayed    github.Relayed  // by the server of a GitHub App, if it was
	onlyNumber bool            // the issue is known by its number alone, and has to be fetched
}

// machine is the runner: its paths, git, agent and sandbox.
type machine struct {
	*event
	sandbox *confine.Sandbox // of the agent and the checks; nil: none
	route   egress.Route     // of ralph's own requests
}

// handler handles one event, with what GitHub says of it.
type handler struct {
	*machine
	client       *github.Client
	host         *branchHost
	known        bool     // the asker may ask
	forms        [][]byte // the issue forms of the base branch, where the task may be one
	attached     []attachment.File
	source       string          // the issue's text, as written
	shown        []string        // the addresses that it shows
	removed      clean.Removed   // from what the agent reads of the request
	ledgerEntry  *ledger.Entry   // in the repository's ledger
	reportFailed bool            // a part of the report of the run's end was not delivered
	redChecks    []trigger.Check // what to work on, where CI asks
	tracer       *trace.Tracer   // of the run; nil: no collector is set
}

// Do handles one event. A push to a base branch is for each pull request that is behind:
// the outcome is the first that was not completed, and an error of one stops no other.
func (a Action) Do(ctx context.Context) (job.Outcome, config.FailOn, error) {
	var worst job.Outcome
	var failures error
	for {
		v := a.newVisit()
		outcome, err := v.do(ctx)
		if err != nil && outcome.Run.Stop == nil && !errors.Is(err, process.ErrStopped) {
			v.reportError(outcome.Run.ID, err)
		}
		if len(a.updated) == 0 || isWorse(outcome.Run, worst.Run) {
			worst = outcome
		}
		failures = errors.Join(failures, err)
		if !v.isForSeveral() || ctx.Err() != nil {
			return worst, v.inputs.FailOn, failures
		}
		a.updated = append(a.updated, v.trigger.Issue.Number)
	}
}

// isWorse reports whether a run has ended, and an earlier one did not end or was completed.
func isWorse(run, earlier journal.Run) bool {
	if run.Stop == nil {
		return false
	}
	return earlier.Stop == nil || earlier.IsCompleted()
}

// do returns no outcome where no run began.
func (h *handler) do(ctx context.Context) (none job.Outcome, err error) {
	if err := h.read(ctx); err != nil {
		return none, err
	}
	if err := h.applyNamedSettings(ctx); err != nil {
		return none, err
	}
	if h.inputs.Mode != config.Work {
		return none, h.proveOrPublish(ctx)
	}
	if aftercare.For(h.trigger) && h.trigger.Inputs == (trigger.Inputs{}) {
		return none, h.handlePullEvent(ctx)
	}
	if why := h.whyIgnored(); why != "" {
		h.say("not for ralph: " + why)
		return none, nil
	}
	if err := h.connect(); err != nil {
		return none, err
	}
	if h.trigger.IsAutomatic() {
		skip, err := h.lookAfterPull(ctx)
		if err != nil {
			return none, err
		}
		if skip != "" {
			h.say("not started: " + skip)
			return none, nil
		}
	}
	h.host = h.hostFor(h.trigger.Issue.Number)
	refused, err := h.checkRequest(ctx)
	if err != nil {
		if h.known { // a stranger gets no words of ours
			h.unlabel(ctx)
			h.commentNotBegun(ctx, err)
		}
		return none, err
	}
	if refused != nil {
		h.refuse(ctx, *refused)
		return none, nil
	}
	h.host = h.hostFor(h.task.Number)
	return h.handleRequest(ctx)
}

// hostFor returns the host that shows the work on an issue.
func (h *handler) hostFor(issue int) *branchHost {
	baseBranch := h.trigger.Repo.DefaultBranch
	if h.trigger.IsOnPull() && h.trigger.Pull.HeadRef == baseBranch {
		baseBranch = "" // people chose it for their pull request
	}
	return &branchHost{
		client:      h.client,
		issue:       issue,
		clone:       h.clone(),
		hide:        h.cleanText,
		say:         h.say,
		baseBranch:  baseBranch,
		pullLabels:  h.inputs.PullLabels,
		reviewers:   h.inputs.Reviewers,
		stateLabels: true,
	}
}

func (a Action) newVisit() *handler {
	toolkit := githubactions.New(githubactions.WithGetenv(a.Getenv), githubactions.WithWriter(unfailing{a.Out}))
	e := &event{Action: a, env: readEnvironment(a.Getenv), toolkit: toolkit}
	return &handler{machine: &machine{event: e}}
}

// read reads the inputs and the event, without a call to GitHub.
func (h *machine) read(ctx context.Context) error {
	if err := h.readInputs(); err != nil {
		return err
	}
	if err := h.checkEnvironment(); err != nil {
		return err
	}
	h.mask()
	if err := h.findPaths(ctx); err != nil {
		return err
	}
	return h.readEvent()
}

func (h *event) readInputs() error {
	inputs, err := config.ReadInputs(h.toolkit.GetInput, h.Inputs...)
	inputs.Sandbox.Network = inputs.Sandbox.Network.ByEnvironment(h.Getenv)
	inputs.Secrets = append(inputs.Secrets, inputs.Sandbox.Network.Secrets()...)
	if token := h.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"); token != "" {
		inputs.Secrets = append(inputs.Secrets, token)
	}
	inputs.Rules.BranchPrefix = inputs.BranchPrefix
	h.inputs = inputs
	h.secrets = redact.New(inputs.Secrets...)
	return err
}

func (h *event) readEvent() error {
	var err error
	if h.payload, err = readPayload(h.env.EventPath); err != nil {
		return err
	}
	h.trigger, err = github.ReadTrigger(h.env.EventName, h.payload)
	if err != nil {
		return fault.Usage("cannot read the event in "+h.env.EventPath,
			"the file must hold the payload of the event "+h.env.EventName+" as JSON", err)
	}
	if err := h.readRelayed(); err != nil {
		return err
	}
	h.addInputs()
	return nil
}

// mask masks secrets line by line, as the runner does.
func (h *event) mask() {
	for _, secret := range h.inputs.Secrets {
		for _, line := range redact.Lines(secret) {
			h.toolkit.AddMask(line)
		}
	}
}

// largestEvent is more than GitHub ever sends.
const largestEvent = 25 << 20

func readPayload(path string) ([]byte, error) {
	const fix = "name it with --event; in a workflow, GITHUB_EVENT_PATH names it"
	payload, err := untrusted.ReadFile(path, largestEvent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Usage("no event file at "+path, fix, nil)
	case err != nil:
		return nil, fault.Usage("cannot read the event file "+path, fix, err)
	}
	return payload, nil
}

// whyIgnored returns why the event is not for us; empty when it is.
func (h *event) whyIgnored() string {
	command, why := trigger.CommandOf(h.trigger, h.inputs.Rules)
	h.command = command
	if command.Verb == trigger.Prove && h.inputs.Mode == config.Work {
		return "a workflow with `mode: prove` answers that"
	}
	return why
}

// connect is called again after the settings were read, which may say how GitHub is reached.
func (h *handler) connect() error {
	network := h.inputs.Sandbox.Network
	var err error
	if h.route, err = network.Route(); err != nil {
		return err
	}
	access := github.Access{
		Owner:   h.trigger.Repo.Owner,
		Repo:    h.trigger.Repo.Name,
		BaseURL: h.Getenv("GITHUB_API_URL"),
		Token:   h.inputs.Token,
		Retry:   h.Pace,
	}
	if network.Upstream+network.Bundle != "" {
		access.HTTP = h.route.Plain()
	}
	starter := access
	if h.inputs.AppID != 0 {
		access.App = &github.App{ID: h.inputs.AppID, PrivateKey: h.inputs.AppKey}
	}
	if h.client, err = github.Connect(access); err != nil {
		return err
	}
	if h.inputs.CIToken != "" {
		starter.Token = h.inputs.CIToken
		starter.Input = "ci-token"
		if h.client.Starter, err = github.Connect(starter); err != nil {
			return err
		}
	}
	// A checkout or another workflow may have made these, and git reads them with a token.
	return h.folder().RemoveFiles(gitHome, keptStore)
}
