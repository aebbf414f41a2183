package action

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// parse reads the inputs and the event, without a call to GitHub.
func (h *handler) parse(ctx context.Context) error {
	var err error
	*h.inputs, err = readInputs(h.action, h.log)
	if err != nil {
		return err
	}
	if err := h.env.check(); err != nil {
		return err
	}
	h.log.mask(h.inputs.Secrets)
	if err := h.machine.findPaths(ctx); err != nil {
		return err
	}
	r, err := readEvent(h.env, h.inputs, h.action.Now())
	if err != nil {
		return err
	}
	h.request = r
	return nil
}

// readInputs reads the inputs of the workflow's step. From then on the log hides secrets, also if an input is wrong.
func readInputs(a Action, l *jobLog) (config.Inputs, error) {
	inputs, err := config.ReadInputs(l.toolkit.GetInput, a.Inputs...)
	inputs.Sandbox.Network = inputs.Sandbox.Network.ByEnvironment(a.Getenv)
	inputs.Secrets = append(inputs.Secrets, inputs.Sandbox.Network.Secrets()...)
	if token := a.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"); token != "" {
		inputs.Secrets = append(inputs.Secrets, token)
	}
	inputs.Rules.BranchPrefix = inputs.BranchPrefix
	l.secrets = redact.New(inputs.Secrets...)
	l.rules = inputs.Rules
	return inputs, err
}

// readEvent reads the event of a job, without a call to GitHub.
func readEvent(env environment, inputs *config.Inputs, now time.Time) (*request, error) {
	payload, err := readPayload(env.eventPath)
	if err != nil {
		return nil, err
	}
	event, err := github.ReadTrigger(env.eventName, payload)
	if err != nil {
		return nil, fault.Usage("cannot read the event in "+env.eventPath,
			"the file must hold the payload of the event "+env.eventName+" as JSON", err)
	}
	r := &request{inputs: inputs, payload: payload, trigger: event}
	if env.eventName == "workflow_dispatch" {
		if err := r.readRelayed(env.repository); err != nil {
			return nil, err
		}
	}
	r.addInputs(env, now)
	return r, nil
}

// largestEvent is more than GitHub ever sends.
const largestEvent = 25 << 20

func readPayload(path string) ([]byte, error) {
	const fix = "set GITHUB_EVENT_PATH to the file of the payload, as GitHub does"
	payload, err := untrusted.ReadFile(path, largestEvent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Usage("no event file at "+path, fix, nil)
	case err != nil:
		return nil, fault.Usage("cannot read the event file "+path, fix, err)
	}
	return payload, nil
}

// readRelayed uses what a GitHub App's server read, if the server started this job. Everyone
// who may start workflows can fake this input, so only bots that the workflow names are trusted.
func (r *request) readRelayed(repository string) error {
	relayed, ok, err := github.ReadRelayed(r.payload)
	if !ok {
		return nil
	}
	by := r.trigger.Sender
	switch {
	case err != nil:
		return fault.Usage("cannot read the delivery of the App's server",
			"use the same version of the server and the Action", err)
	case !by.IsBot || !r.inputs.Rules.IsAllowed(by):
		return fault.Usage("the input `delivery` comes from "+by.Login+", which is not one of `allow-bots`",
			"if the bot is your App's, add it there", nil)
	case !strings.EqualFold(relayed.Trigger.Repo.String(), repository):
		return fault.Usage("the input `delivery` is for another repository: "+relayed.Trigger.Repo.String(),
			"dispatch it there", nil)
	}
	r.trigger = relayed.Trigger
	r.relayed = relayed
	return nil
}

// addInputs adds the task that the workflow's inputs name.
func (r *request) addInputs(env environment, now time.Time) {
	issue := r.inputs.Issue
	r.trigger.Inputs = trigger.Inputs{Prompt: r.inputs.Prompt, Issue: issue}
	r.onlyNumber = r.trigger.NeedsInputs() && issue != 0 && issue != r.trigger.Issue.Number
	if r.onlyNumber {
		r.trigger.Issue = trigger.Issue{}
	}
	if trigger.CanStartWork(r.trigger.Event) {
		return
	}
	// What was said before the job began to look was there when it was asked.
	r.trigger.At = now
	if r.trigger.Repo.Name == "" {
		r.trigger.Repo.Owner, r.trigger.Repo.Name, _ = strings.Cut(env.repository, "/")
	}
	if r.trigger.Sender.Login == "" {
		actor := env.get("GITHUB_ACTOR")
		r.trigger.Sender = trigger.Sender{Login: actor, IsBot: strings.HasSuffix(actor, "[bot]")}
	}
}
