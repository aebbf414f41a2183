package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// noWall is said by every run that nobody asked a wall for.
const noWall = "sandbox level none: the agent and the checks can do whatever you can"

// wanted is the level that flags and settings ask for: none, unless they do.
// Nobody's tools stop working because of a wall that was not asked for.
func (l local) wanted(d *desk) (sandbox.Level, error) {
	word := cmp.Or(string(l.Sandbox), d.settings.Sandbox.Mode)
	if l.NoSandbox {
		word = string(sandbox.None)
	}
	switch {
	case (word == "" || word == inDocker) && len(d.settings.Sandbox.AllowDomains) > 0:
		return "", fault.Usage("the settings name sandbox.allowDomains, and nothing of ralph's confines the agent to them",
			"give --sandbox, or sandbox.mode in the settings; --no-sandbox runs without", nil)
	case word == "":
		return sandbox.None, nil
	}
	return sandbox.Level(word), nil
}

// raise has the wall stand that is asked for, before anything is spent.
func (d *desk) raise(ctx context.Context, worker, second *job.Candidate, p policy.Policy) (*confine.Sandbox, error) {
	level, err := d.wanted(d)
	if err != nil || level == sandbox.None || level == inDocker || d.DryRun {
		return nil, err
	}
	self, err := executable()
	if err != nil {
		return nil, err
	}
	home, err := d.w.homeBeside(d.root())
	if err != nil {
		return nil, err
	}
	reach := []string{d.root()}
	if p.Apart { // a tree of its own, or a worktree
		reach = nil
	}
	allow := d.settings.Sandbox.AllowDomains
	if err := errors.Join(worker.Adopt(ctx, d.w.runner.Run, home, p.Model), second.Adopt(ctx, d.w.runner.Run, home, p.Review.Model)); err != nil {
		return nil, err
	}
	terms := d.terms(p)
	more, state := second.Needs()
	return confine.Start(ctx, confine.Options{
		Level: level, Self: self, Exec: d.w.runner.Run, Env: d.w.environ(),
		Home: home, State: append(state, worker.State...), Settled: second.Settles().And(worker.Settled), Read: append(more, d.reads(worker)...),
		Private: []string{d.root()}, Reach: reach, Proofs: p.Done == policy.ByStories, Now: d.w.now,
		Network: confine.Network{Any: allow == nil, Allow: allow, Setup: d.settings.Sandbox.SetupDomains},
		Model:   worker.Asks(terms), Review: second.Reviews(terms),
	})
}

// homeBeside is the user's home, which must not be what the agent works in: then nothing
// in it would be out of its reach.
func (w world) homeBeside(project string) (string, error) {
	home := w.env("HOME")
	if !filepath.IsAbs(home) {
		return "", fault.Usage("there is no home folder", "set HOME", nil)
	}
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	if way, err := filepath.Rel(root, home); err == nil && filepath.IsLocal(way) {
		return "", fault.Usage("your home folder lies in the project, and all of it would be the agent's to read",
			"work in a folder of its own, or say --no-sandbox", nil)
	}
	return home, nil
}

// reads are what the agent has to read beyond the project: its program, and
// what it goes by.
func (d *desk) reads(worker *job.Candidate) []string {
	read, _ := worker.Needs()
	for _, name := range worker.Vars {
		if at := d.w.env(name); filepath.IsAbs(at) {
			read = append(read, at)
		}
	}
	return read
}

// count has a model server count what the agents use, where no wall stands.
func (d *desk) count(ctx context.Context, worker, second *job.Candidate, p policy.Policy) (*confine.Sandbox, error) {
	if d.docker != nil || d.DryRun { // in Docker's sandboxes this machine's servers are not reached
		return nil, nil //nolint:nilnil // a nil Wall is one that does nothing
	}
	terms := d.terms(p)
	return confine.HoldKeys(ctx, confine.Options{
		Home: d.w.env("HOME"), Env: d.w.environ(), Now: d.w.now, Network: confine.Network{Bundle: d.w.env("NODE_EXTRA_CA_CERTS")},
		Model: worker.Asks(terms), Review: second.Reviews(terms),
	})
}

// terms are what of a model's use is the same for all agents of a run.
func (d *desk) terms(p policy.Policy) confine.Model {
	return confine.Model{
		Name: p.Model, Models: d.settings.Sandbox.AllowModels, Budget: agent.Budget{USD: p.Limits.CostUSD, Tokens: p.Limits.Tokens},
	}
}

// lower ends what stands round the agent, on every way out.
func (d *desk) lower(walls ...*confine.Sandbox) {
	for _, w := range walls {
		if err := w.Close(); err != nil {
			d.line("the wall was not cleared away: " + err.Error())
		}
	}
}

// said is what people are told of what confines the agent.
func (d *desk) said(w *confine.Sandbox) string {
	if d.docker != nil {
		return "sandbox level docker: Docker's own, which ralph has not put to the test; the checks run outside of it, and can do whatever you can"
	}
	return w.Said(noWall)
}

// level is what the journal has of it.
func (d *desk) level(w *confine.Sandbox) string {
	if d.docker != nil {
		return inDocker
	}
	return w.Name()
}
