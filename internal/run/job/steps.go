package job

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/merging"
)

type emit = func(journal.Event)

// doStep does one step of the loop.
func (s *activeRun) doStep(ctx context.Context, run journal.Run, step verdict.Step, emit emit) error {
	if s.record.isAborted() {
		return process.ErrStopped
	}
	s.agents.clean.Trusted = s.repo.trusted // a merge has fetched it again
	switch step := step.(type) {
	case verdict.DraftPlan:
		return s.agents.draftPlan(ctx, run, emit)
	case verdict.Baseline:
		return s.prover.Baseline(ctx, run, step, emit)
	case verdict.Iterate:
		if s.supervisor.command != nil {
			return s.supervisor.runSupervised(ctx, run, step, emit)
		}
		return s.iterate(ctx, run, step, emit)
	case verdict.ReadPlan:
		return s.readPlan(ctx, run, emit)
	case verdict.Check:
		return s.checks.runChecks(ctx, run, emit)
	case verdict.TakeCommits:
		return s.takeCommits(ctx, run, step, emit)
	case verdict.Prove:
		return s.prover.Prove(ctx, run, step, emit)
	case verdict.Review:
		return s.agents.review(ctx, run, step, emit)
	case verdict.RunSCMTask:
		err := s.scm.runSCMTask(ctx, run, step, emit)
		if err != nil || s.tree.code.Box == nil {
			return err
		}
		return s.takeSCMCommits(ctx, emit)
	case verdict.Push:
		return s.publisher.push(ctx, run, step, emit)
	case verdict.OpenPull:
		return s.publisher.openPull(ctx, run, emit)
	case verdict.MergeRemote:
		return s.publisher.mergeRemote(ctx, run, emit)
	case verdict.MarkPullReady:
		return s.publisher.markPullReady(ctx, run, emit)
	case verdict.ReadTaskFolder:
		return s.supervisor.readTaskFolder(run, emit)
	case verdict.Pause:
		return s.pause(ctx, step, emit)
	case verdict.AnnounceEnd:
		return s.supervisor.announceEnd(run, step, emit)
	case verdict.Deliver:
		return s.delivery.deliver(ctx, run, emit)
	case verdict.SaveRun:
		return s.publisher.saveRun(ctx, run, emit)
	case verdict.Judge, verdict.Stop, verdict.NoStep: // package loop does these
	}
	return nil
}

func (s *activeRun) readPlan(ctx context.Context, run journal.Run, emit emit) error {
	dir, err := s.tree.folder(ctx)
	if err != nil {
		return err
	}
	merged := plan.Merged{Plan: run.Plan}
	memory := workspace.Memory{Tree: dir, Dir: memoryDir(run)}
	proposed, err := memory.ReadPlan()
	if err != nil {
		merged.Undone = []string{"the whole plan, for it could not be read: " + err.Error()}
		if s.tree.code.UserTree != nil && !errors.Is(err, fs.ErrNotExist) {
			s.record.log("note: the PRD was restored" + kept(memory, s.record.home))
		}
	} else {
		merged = plan.Merge(run.Plan, proposed)
	}
	log, cut, err := s.memory.saveLog(ctx, dir, run)
	if err != nil {
		return err
	}
	committed := len(merged.Claimed) > 0 && s.tree.takeSnapshot(ctx, run)
	emit(journal.PlanRead{
		Plan:      merged.Plan,
		Claimed:   merged.Claimed,
		Undone:    merged.Undone,
		Bent:      merged.Restored,
		Committed: committed,
		Log:       log,
		Cut:       cut,
	})
	if len(merged.Undone) == 0 {
		return nil
	}
	return s.memory.writeMemory(ctx, dir, run, merged.Plan)
}

func (s *activeRun) takeCommits(ctx context.Context, run journal.Run, step verdict.TakeCommits, emit emit) error {
	var seen *git.Inspection
	if step.Leftovers && run.Policy.Done == policy.ByStories {
		committed, err := s.tree.commitLeftovers(ctx, run)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			emit(journal.Noted{What: "could not commit uncommitted work: " + err.Error()})
		} else {
			seen = committed
		}
	}
	note := journal.Noted{
		What: "left out of commits, as filters such as git-crypt or Git LFS have to write them: " +
			journal.ShortList(s.tree.snapshot.leftOut),
		Hint: "commit their changes yourself, if there are any",
	}
	if len(s.tree.snapshot.leftOut) > 0 && !slices.Contains(run.Notes, note) {
		emit(note)
	}
	taken, err := s.newCommits(ctx, run, seen)
	if err != nil {
		return err
	}
	taken.Swept = step.Leftovers
	emit(taken)
	return s.tree.follow(ctx, run, seen, taken)
}

// takeSCMCommits takes what a task of version control committed in the box.
func (s *activeRun) takeSCMCommits(ctx context.Context, emit emit) error {
	run := s.record.Run()
	taken, err := s.newCommits(ctx, run, nil)
	if err != nil || taken.From == taken.To {
		return err
	}
	emit(taken)
	return s.tree.follow(ctx, run, nil, taken)
}

func (s *activeRun) newCommits(
	ctx context.Context,
	run journal.Run,
	seen *git.Inspection,
) (journal.CommitsTaken, error) {
	taken, err := s.tree.newCommits(ctx, run, seen)
	if err != nil {
		return taken, err
	}
	return merging.Settle(ctx, s.repo.trusted, run, taken)
}

// pause is recorded first, and ends early if the run is asked to stop.
func (s *activeRun) pause(ctx context.Context, step verdict.Pause, emit emit) error {
	emit(journal.Paused{MS: step.For.Milliseconds(), Why: step.Why})
	return waitUntil(ctx, step.For, s.job.Drain) // the loop also reads drain
}
