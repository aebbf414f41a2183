// Package job owns the resources of a run: its folder, lock, journal, trees and outputs. It connects agent, checks and
// git to the loop, and releases everything when the run ends. It has no rules of its own.
//
// A run has parts, and each part has the parts that it needs: the record, ralph's own repository, the agent's tree, the
// loop's memory in it, checks, agents, and what publishes or delivers the work.
package job

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Job is everything that does not change from one run to the next.
type Job struct {
	Machine  Machine
	Code     Code
	Remote   Remote
	Agents   Agents
	Audience Audience

	Drain       <-chan struct{} // closed: end after the current step
	Abort       <-chan struct{} // closed: end now; record only what the agent used, save and show nothing
	Version     string          // of this program
	SaveTimeout time.Duration   // limits saving the work after the run was cancelled
	KeepTrees   bool            // do not remove the trees
	PageWanted  bool            // write the report page beside the journal
	OutputDir   string          // for files that later steps of the job use; empty: none
}

// Found is what a job knows before its sandbox is there.
type Found struct {
	Agent    *FoundAgent
	Reviewer *FoundAgent // gives second opinions; nil: none
	Policy   policy.Policy
	Sandbox  confine.Options
	CheckEnv func(*confine.Sandbox) []string // the base of the environment of checks
	Kept     func(*confine.Sandbox) checkout.Kept
}

// New starts the sandbox of a job, and fills in the agents, and what the checks have in it. The caller closes it.
func New(ctx context.Context, found Found, j Job) (*Job, error) {
	o := found.Sandbox
	model := o.Model
	model.Name = found.Policy.Model
	model.Budget = agent.Budget{USD: found.Policy.Limits.CostUSD, Tokens: found.Policy.Limits.Tokens}
	o.Model = found.Agent.FillModel(model)
	o.Review = found.Reviewer.reviewModel(model)
	read, homeFiles := found.Agent.Needs(o.Env)
	reviewerRead, reviewerHomeFiles := found.Reviewer.Needs(o.Env)
	o.Read = slices.Concat(reviewerRead, read, o.Read)
	if o.Home != "" {
		o.HomeFiles = append(homeFiles, reviewerHomeFiles...)
	}
	sb, err := confine.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	j.Machine.Sandbox = sb
	j.Machine.Kept = found.Kept(sb)
	j.Machine.StepEnv = found.CheckEnv(sb)
	j.Machine.CheckEnv = slices.Concat(j.Machine.StepEnv, o.Needs.Env)
	j.Machine.CheckSecrets = o.Needs.Secrets
	j.Agents.AgentEnv = slices.Concat(found.Agent.Env, o.Needs.Env)
	if err := j.pickAgents(found, sb); err != nil {
		return nil, errors.Join(err, sb.Close())
	}
	return &j, nil
}

// pickAgents makes the agents with the keys that the sandbox gives them.
func (j *Job) pickAgents(found Found, sb *confine.Sandbox) error {
	adapter, err := found.Agent.inSandbox(sb.Keys)
	if err != nil {
		return err
	}
	j.Agents.Agent = adapter
	if found.Reviewer == nil {
		return nil
	}
	adapter, err = found.Reviewer.inSandbox(sb.ReviewKeys)
	if err != nil {
		return err
	}
	j.Agents.Reviewer = &Reviewer{Agent: adapter, Env: found.Reviewer.Env}
	return nil
}

// NewRun is a run to begin. The job finds its commits and trees.
type NewRun struct {
	journal.RunBegan
	Notes        []journal.Noted
	DetectChecks bool        // if no check is configured, use those that the base's files suggest
	Unfinished   journal.Run // of the same branch; nothing proved its commits
}

// Outcome is the state of a run when the job ends.
type Outcome struct {
	Run  journal.Run
	Home workspace.Run
}

// Start begins a run and works until it stops.
func (j *Job) Start(ctx context.Context, asked NewRun) (Outcome, error) {
	release, err := j.Machine.Folder.Lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	home, err := j.Machine.Folder.NewRun(asked.Run)
	if err != nil {
		return Outcome{}, err
	}
	return j.work(ctx, home, asked.BaseRef, asked.Branch, func(s *activeRun) error {
		return s.begin(ctx, asked)
	})
}

// Resume continues a run, and grants its limits again.
func (j *Job) Resume(ctx context.Context, home workspace.Run, resumed journal.Resumed) (Outcome, error) {
	release, err := j.Machine.Folder.Lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	entries, err := home.Entries()
	if err != nil {
		return Outcome{}, err
	}
	old := journal.Fold(journal.Run{}, entries...)
	return j.work(ctx, home, old.BaseRef, old.Branch, func(s *activeRun) error {
		return s.resume(ctx, old, resumed)
	})
}

// work opens a run, begins or resumes it, does its steps, publishes what is left, and closes it.
func (j *Job) work(
	ctx context.Context,
	home workspace.Run,
	base, branch string,
	begin func(*activeRun) error,
) (Outcome, error) {
	s, err := j.open(ctx, home, base, branch)
	if err != nil {
		return Outcome{Home: home}, err
	}
	defer s.record.close() //nolint:errcheck // the journal was synced line by line
	if err := begin(s); err != nil {
		return Outcome{Home: home}, err
	}
	if err := s.prepare(ctx); err != nil {
		return Outcome{Run: s.record.Run(), Home: home}, err
	}
	err = loop.Loop{Do: s.doStep, Journal: s.record, Drain: j.Drain, SaveTimeout: j.SaveTimeout}.Run(ctx)
	s.publish(ctx)
	return Outcome{Run: s.record.Run(), Home: home}, errors.Join(err, s.removeTrees(context.WithoutCancel(ctx)))
}

// prepare does what a run needs before its first step, and a resumed one again.
func (s *activeRun) prepare(ctx context.Context) error {
	if err := s.checks.allowPackageHosts(ctx); err != nil {
		return err
	}
	if err := s.agents.warnOfLimits(); err != nil {
		return err
	}
	s.agents.clean = s.checks.cleanCheckouts(s.record.Run())
	s.prover = s.agents.clean.Prover()
	return s.publisher.postComment(ctx)
}

// publish leaves what others read of a run that has stopped. It only logs errors.
func (s *activeRun) publish(ctx context.Context) {
	if s.record.Run().Stop == nil || s.record.isAborted() {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, output := range []struct {
		name  string
		write func(context.Context, journal.Run) error
	}{
		{"save the work in a file", s.publisher.saveBundle},
		{"write " + EvidenceName, s.writeEvidence},
		{"save the run for another machine", s.publisher.saveFiles},
		{"write " + workspace.PageFile, s.writePage},
	} {
		if err := output.write(ctx, s.record.Run()); err != nil {
			s.record.log("could not " + output.name + ": " + fault.Told(err))
		}
	}
}
