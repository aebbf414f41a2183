// Package action is the entry for GitHub Actions. It reads the event and the
// inputs, decides with package trigger whether to start, runs the job, and
// reports on GitHub. It holds no rules of its own.
package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/sethvargo/go-githubactions"

	"github.com/ralph-loop/ralph/internal/aftercare"
	"github.com/ralph-loop/ralph/internal/attachment"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/ledger"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/trace"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/upkeep"
)

// Action is one run of the Action.
type Action struct {
	Getenv  func(string) string
	Inputs  []string  // the names of those that the workflow sets
	Out     io.Writer // the job's log
	Now     func() time.Time
	Exec    func(context.Context, process.Command) (process.Result, error)
	Self    string // the path of this program
	Version string // and its version
	Drain   <-chan struct{}
	Hard    <-chan struct{} // closed: end now, as if killed
	Watch   func(stream.Item)
	Pace    *github.Pace  // nil: GitHub's own
	Every   time.Duration // the least time between two edits of a comment
	Keep    bool          // leave the trees behind
	Plain   bool          // Out is read by people, and by no runner: it gets no groups or annotations
	updated []int         // the pull requests that this push to their base was for
}

// visit is an Action with all that was read for it.
type visit struct {
	Action
	request
	toolkit  *githubactions.Action
	env      environment
	sandbox  *confine.Sandbox // of the agent and the checks; nil: none
	client   *github.Client
	starter  *github.Client // pushes and opens in the name of ci-token; nil: there is none
	hub      *branchHost
	secrets  *redact.Redactor
	signs    sigstore.Job
	known    bool     // the asker may ask
	forms    [][]byte // the issue forms of the base branch, where the task may be one
	attached []attachment.File
	asides   []journal.Noted // what people should know of what was read for it
	entered  *ledger.Entry   // in the repository's ledger
	relayed  github.Relayed  // by the server of a GitHub App, if it was
	named    bool            // the issue is known by its number alone, and has to be fetched
	reacted  string          // with what, last
	missed   bool            // something of how the run ended did not come to people
	red      []upkeep.Check  // what to work on, where CI asks
	tracer   *trace.Tracer   // of the run; nil: no collector is set
}

// Result is how a visit ended.
type Result struct {
	Outcome Outcome
	Skipped string // why the event was not for us; then there is no outcome
}

// Do sees one event through. An event that is not for us is no error. A push is for
// each pull request that is behind: the result is the first that was not completed,
// and an error of one holds no other back.
func (a Action) Do(ctx context.Context) (worst Result, wrong error) {
	for {
		v := a.visit()
		result, err := v.do(ctx)
		if err != nil && result.Outcome.Run.Stop == nil && !errors.Is(err, process.ErrStopped) {
			v.alarm(result.Outcome.Run.ID, err)
		}
		if stop := result.Outcome.Run.Stop; len(a.updated) == 0 || stop != nil && (worst.Outcome.Run.Stop == nil || worst.Outcome.Run.IsCompleted()) {
			worst = result
		}
		wrong = errors.Join(wrong, err)
		if !v.isForSeveral() || ctx.Err() != nil {
			return worst, wrong
		}
		a.updated = append(a.updated, v.trigger.Issue.Number)
	}
}

func (v *visit) do(ctx context.Context) (Result, error) {
	if err := v.read(); err != nil {
		return Result{}, err
	}
	if v.inputs.Mode != config.Work {
		return v.proveOrPublish(ctx)
	}
	if aftercare.For(v.trigger.Event, v.trigger.Action) && v.trigger.Inputs == (trigger.Inputs{}) {
		return v.after(ctx)
	}
	if why := v.wanted(); why != "" {
		v.say("not for ralph: " + why)
		return Result{Skipped: why}, nil
	}
	if err := v.connect(); err != nil {
		return Result{}, err
	}
	if v.trigger.IsAutomatic() {
		if skip, err := v.tend(ctx); err != nil {
			return Result{}, err
		} else if skip != "" {
			v.say("not started: " + skip)
			return Result{Skipped: skip}, nil
		}
	}
	v.hub = v.hubOf(v.trigger.Issue.Number)
	refused, err := v.accept(ctx)
	if err != nil {
		if v.known { // a stranger gets no words of ours
			v.unlabel(ctx)
			v.complain(ctx, err)
		}
		return Result{}, err
	}
	if refused != nil {
		v.refuse(ctx, *refused)
		return Result{Skipped: refused.Why}, nil
	}
	if v.inputs.DryRun {
		return v.rehearse()
	}
	v.hub = v.hubOf(v.task.Number)
	return v.serve(ctx)
}

// hubOf is GitHub as the place where work on an issue is shown.
func (v *visit) hubOf(issue int) *branchHost {
	untouched := v.trigger.Repo.DefaultBranch
	if v.trigger.IsOnPull() && v.trigger.Pull.HeadRef == untouched {
		untouched = "" // people chose it for their pull request
	}
	return &branchHost{
		client: v.client, starter: v.starter, issue: issue, clone: v.clone(), hide: v.words, say: v.say, untouched: untouched,
		pullLabels: v.inputs.PullLabels, reviewers: v.inputs.Reviewers, states: v.inputs.StateLabels,
	}
}

func (a Action) visit() *visit {
	return &visit{Action: a, toolkit: githubactions.New(githubactions.WithGetenv(a.Getenv), githubactions.WithWriter(a.Out))}
}

// read takes in the inputs and the event; nothing is asked of anybody yet.
func (v *visit) read() error {
	if err := v.readInputs(); err != nil {
		return err
	}
	env, err := readEnvironment(v.Getenv)
	if err != nil {
		return err
	}
	v.env = env
	v.mask()
	return v.readEvent()
}

func (v *visit) readInputs() error {
	inputs, err := config.ReadInputs(v.toolkit.GetInput, v.Inputs...)
	if token := v.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"); token != "" {
		inputs.Secrets = append(inputs.Secrets, token)
	}
	v.inputs, v.secrets = inputs, redact.New(inputs.Secrets...)
	return err
}

func (v *visit) readEvent() error {
	payload, err := event(v.env.EventPath)
	if err != nil {
		return err
	}
	v.trigger, err = github.ReadTrigger(v.env.EventName, payload)
	if err != nil {
		return fault.Usage("cannot read the event in "+v.env.EventPath, "the file must hold the payload of the event "+v.env.EventName+" as JSON", err)
	}
	if err := v.relay(payload); err != nil {
		return err
	}
	return v.given()
}

// mask has the runner hide what must not be seen, line by line, since it
// masks lines.
func (v *visit) mask() {
	for _, secret := range v.inputs.Secrets {
		for _, line := range redact.Lines(secret) {
			v.toolkit.AddMask(line)
		}
	}
}

// largestEvent is more than GitHub ever sends.
const largestEvent = 25 << 20

func event(path string) ([]byte, error) {
	const fix = "name it with --event; in a workflow, GITHUB_EVENT_PATH names it"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Usage("no event file at "+path, fix, nil)
	case err == nil && info.Size() > largestEvent:
		return nil, fault.Usage(fmt.Sprintf("the event file %s has %d bytes, more than GitHub sends", path, info.Size()), fix, nil)
	}
	payload, err := untrusted.ReadFile(path, largestEvent)
	if err != nil {
		return nil, fault.Usage("cannot read the event file", fix, err)
	}
	return payload, nil
}

// wanted is why the event is not for us; empty when it is.
func (v *visit) wanted() string {
	command, why := trigger.CommandOf(v.trigger, v.inputs.Rules)
	if why == "" && v.trigger.IsCI() && !strings.HasPrefix(v.trigger.CI.Branch, v.inputs.BranchPrefix) {
		why = "the branch is not one of ralph's"
	}
	if v.command = command; command.Verb == trigger.Prove && v.inputs.Mode == config.Work {
		return "a workflow with `mode: prove` answers that"
	}
	return why
}

func (v *visit) connect() error {
	if v.inputs.Token == "" && v.inputs.AppID == 0 {
		return fault.Usage("no GitHub token", "set `github-token: ${{ github.token }}`, or `app-id` and `app-private-key`", nil)
	}
	network := v.network()
	route, err := network.Route()
	if err != nil {
		return err
	}
	v.signs = sigstore.Job{Env: v.Getenv, Server: v.env.ServerURL, Transport: route.Plain(), Now: v.Now, Unconfined: v.inputs.Sandbox.Level == sandbox.None, Say: v.say}
	access := github.Access{
		Owner: v.trigger.Repo.Owner, Repo: v.trigger.Repo.Name,
		BaseURL: v.env.APIURL, GraphQLURL: v.env.GraphQLURL,
		Token: v.inputs.Token, Pace: v.Pace,
	}
	if network.Upstream+network.Bundle != "" {
		access.HTTP = route.Plain()
	}
	if v.inputs.CIToken != "" {
		starter := access
		starter.Token, starter.Input = v.inputs.CIToken, "ci-token"
		if v.starter, err = github.Connect(starter); err != nil {
			return err
		}
	}
	if v.inputs.AppID != 0 {
		access.App = &github.App{ID: v.inputs.AppID, PrivateKey: v.inputs.AppKey}
	}
	if v.client, err = github.Connect(access); err != nil {
		return err
	}
	// A checkout, or another workflow on this machine, may have made these: what git
	// reads there would be read with a token at hand.
	return v.folder().RemoveFiles(gitHome, keptStore)
}
