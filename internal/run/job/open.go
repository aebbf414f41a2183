package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/proof"
)

// activeRun is a run that this job works on.
type activeRun struct {
	job        *Job
	record     *record
	repo       *repository
	tree       *agentTree
	memory     *memory
	checks     *checks
	agents     *agents
	publisher  *publisher
	delivery   *delivery
	scm        *scm
	supervisor *supervisor
	prover     proof.Prover
}

// open makes the folders of a run, fetches its code, and opens its journal.
func (j *Job) open(ctx context.Context, home workspace.Run, base, branch string) (*activeRun, error) {
	s := j.parts(home)
	for _, dir := range []string{s.repo.work, cmp.Or(j.Machine.Git.Home, s.repo.work)} { // without git there is no home
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the run's folders: %w", err)
		}
	}
	if err := s.repo.fetch(ctx, base, branch); err != nil {
		return nil, err
	}
	if err := s.tree.fillFolder(ctx); err != nil {
		return nil, err
	}
	return s, s.record.open(ctx)
}

func (j *Job) parts(home workspace.Run) *activeRun {
	machine := &j.Machine
	repo := &repository{origin: j.Code.Origin, work: j.workDir(home)}
	record := &record{machine: machine, audience: j.Audience, abort: j.Abort, home: home}
	tree := &agentTree{
		code:      j.Code,
		machine:   machine,
		record:    record,
		repo:      repo,
		hasSecret: j.Remote.HasSecret,
	}
	checks := &checks{machine: machine, record: record, repo: repo, tree: tree}
	agents := &agents{chosen: j.Agents, machine: machine, record: record, repo: repo, tree: tree}
	delivery := &delivery{user: j.Code.Box, machine: machine, record: record, repo: repo, tree: tree}
	return &activeRun{
		job:        j,
		record:     record,
		repo:       repo,
		tree:       tree,
		memory:     &memory{record: record, tree: tree},
		checks:     checks,
		agents:     agents,
		publisher:  &publisher{job: j, remote: j.Remote, record: record, repo: repo, tree: tree},
		delivery:   delivery,
		scm:        &scm{machine: machine, record: record, tree: tree, agents: agents, delivery: delivery},
		supervisor: &supervisor{machine: machine, command: j.Agents.Supervised},
	}
}

// workDir holds the run's trees, outside of projects to which a sandbox may write.
func (j *Job) workDir(home workspace.Run) string {
	if j.Machine.TreesBeside {
		return j.Machine.Folder.TreesDir(home.ID)
	}
	return home.File("work")
}

func (s *activeRun) canRemoveTrees(ctx context.Context) bool {
	run := s.record.Run()
	if s.tree.code.UserTree != nil {
		return true // the agent worked in the user's own tree
	}
	if s.repo.trusted == nil && s.tree.code.Box == nil {
		return true // it worked in the user's own folder
	}
	if run.Stop == nil || run.Stop.Reason == policy.FatalError {
		return false
	}
	if s.record.isAborted() || isWorkUntaken(run) {
		return false
	}
	if s.tree.code.Box != nil {
		return s.delivery.isAllDelivered(ctx, run)
	}
	if run.Dirty {
		return false
	}
	if run.Head == run.Start || verdict.IsUnchanged(run) {
		return true // there is no work
	}
	return run.Published.Pushed == run.Head
}

func isWorkUntaken(run journal.Run) bool {
	n := len(run.Iterations)
	if n == 0 {
		return false
	}
	it := run.Iterations[n-1]
	if it.Taken != nil {
		return len(it.Taken.Refused) > 0
	}
	return it.Agent != nil || it.Ended == nil
}

func (s *activeRun) removeTrees(ctx context.Context) error {
	if s.job.KeepTrees {
		return nil
	}
	if s.canRemoveTrees(ctx) {
		return errors.Join(untrusted.RemoveAll(s.repo.work), s.delivery.letGo(ctx))
	}
	if s.tree.worksInClone() && s.job.Machine.Sandbox != nil {
		s.tree.closeTree()
	}
	if s.tree.code.Box != nil {
		s.record.log("work that is not in your folder is in " + s.repo.work)
		return nil
	}
	s.record.log("work that was not pushed is saved in " + s.repo.work)
	return nil
}
