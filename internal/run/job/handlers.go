package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/run/merging"
)

type emit = func(journal.Event)

func (s *activeRun) doStep(ctx context.Context, run journal.Run, step verdict.Step, emit emit) error {
	if s.isAborted() {
		return process.ErrStopped
	}
	if err := s.openRepository(ctx, run); err != nil {
		return err
	}
	switch step := step.(type) {
	case verdict.DraftPlan:
		return s.draftPlan(ctx, run, emit)
	case verdict.Baseline:
		return s.prover.Baseline(ctx, run, step, emit)
	case verdict.Iterate:
		if s.Supervised != nil {
			return s.supervision.runSupervised(ctx, run, step, emit)
		}
		return s.iterate(ctx, run, step, emit)
	case verdict.ReadPlan:
		return s.readPlan(ctx, run, emit)
	case verdict.Check:
		return s.runChecks(ctx, run, emit)
	case verdict.TakeCommits:
		return s.takeCommits(ctx, run, step, emit)
	case verdict.Prove:
		return s.prover.Prove(ctx, run, step, emit)
	case verdict.Review:
		return s.review(ctx, run, step, emit)
	case verdict.RunSCMTask:
		err := s.scm.runSCMTask(ctx, run, step, emit)
		if err != nil || s.Box == nil {
			return err
		}
		return s.takeSCMCommits(ctx, emit)
	case verdict.Push:
		return s.publishing.push(ctx, run, step, emit)
	case verdict.OpenPull:
		return s.publishing.openPull(ctx, run, emit)
	case verdict.MergeRemote:
		return s.publishing.mergeRemote(ctx, run, emit)
	case verdict.MarkPullReady:
		return s.publishing.markPullReady(ctx, run, emit)
	case verdict.ReadTaskFolder:
		return s.supervision.readTaskFolder(run, emit)
	case verdict.Pause:
		return s.pause(ctx, step, emit)
	case verdict.AnnounceEnd:
		return s.supervision.announceEnd(run, step, emit)
	case verdict.Deliver:
		return s.deliver(ctx, run, emit)
	case verdict.SaveRun:
		return s.publishing.saveRun(ctx, run, emit)
	case verdict.Judge, verdict.Stop, verdict.NoStep: // package loop does these
	}
	return nil
}

func (s *activeRun) readPlan(ctx context.Context, run journal.Run, emit emit) error {
	dir, err := s.folder(ctx)
	if err != nil {
		return err
	}
	merged := plan.Merged{Plan: run.Plan}
	memory := workspace.Memory{Tree: dir, Dir: memoryDir(run)}
	proposed, err := memory.ReadPlan()
	if err != nil {
		merged.Undone = []string{"the whole plan, for it could not be read: " + err.Error()}
		if s.UserTree != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Log("note: the PRD was put back" + kept(memory, s.home))
		}
	} else {
		merged = plan.Merge(run.Plan, proposed)
	}
	log, cut, err := s.saveLog(ctx, dir, run)
	if err != nil {
		return err
	}
	committed := len(merged.Claimed) > 0 && s.takeSnapshot(ctx, run)
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
	return s.writeMemory(ctx, dir, run, merged.Plan)
}

func (s *activeRun) runChecks(ctx context.Context, run journal.Run, emit emit) error {
	dir, err := s.folder(ctx)
	if err != nil {
		return err
	}
	s.takeSnapshot(ctx, run)
	hand := s.checkRunner(run, dir)
	hand.Patience = func(limit time.Duration) time.Duration { return timeLeft(run, s.Now(), limit) }
	defer s.Sandbox.Flush(emit)
	job := checkJob(run, dir, latestNumber(run))
	job.Checks = run.Policy.Checks
	changed, known, err := s.changedFiles(ctx, run)
	if err != nil {
		return err
	}
	job.Skip = func(check policy.Check) bool { return known && proof.Skips(check, changed) }
	err = hand.Do(ctx, job, emit)
	s.warnOfSetup(run.Policy.SetupLine(), emit)
	return err
}

// warnOfSetup notes once that a check of the user's own tree may lack setup.
func (s *activeRun) warnOfSetup(commands string, emit emit) {
	note := journal.Noted{
		What: "setup never runs in your own tree",
		Hint: "if the check needs it, run it there (" + commands + "), or begin again with --worktree",
	}
	run := s.Run()
	it, _ := run.OpenIteration()
	mayLackSetup := func(c journal.CheckEnded) bool { return verdict.MayLackSetup(run, c) }
	if !slices.Contains(run.Notes, note) && slices.ContainsFunc(it.Checks, mayLackSetup) {
		emit(note)
	}
}

func latestNumber(run journal.Run) string {
	if n := len(run.Iterations); n > 0 {
		return strconv.Itoa(run.Iterations[n-1].Number)
	}
	return "0"
}

func (s *activeRun) takeCommits(ctx context.Context, run journal.Run, step verdict.TakeCommits, emit emit) error {
	var seen *git.Inspection
	if step.Leftovers && run.Policy.Done == policy.ByStories {
		committed, err := s.commitLeftovers(ctx, run)
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
			journal.ShortList(s.snapshot.leftOut),
		Hint: "commit their changes yourself, if there are any",
	}
	if len(s.snapshot.leftOut) > 0 && !slices.Contains(run.Notes, note) {
		emit(note)
	}
	seen = cmp.Or(seen, s.snapshot.inspection(run))
	taken, err := s.newCommits(ctx, run, seen)
	if err != nil {
		return err
	}
	taken, err = merging.Settle(ctx, s.trusted, run, taken)
	if err != nil {
		return err
	}
	taken.Swept = step.Leftovers
	emit(taken)
	return s.follow(ctx, run, seen, taken)
}

// takeSCMCommits takes what a task of version control committed in the box.
func (s *activeRun) takeSCMCommits(ctx context.Context, emit emit) error {
	run := s.Run()
	taken, err := s.newCommits(ctx, run, nil)
	if err != nil || taken.From == taken.To {
		return err
	}
	taken, err = merging.Settle(ctx, s.trusted, run, taken)
	if err != nil {
		return err
	}
	emit(taken)
	return s.follow(ctx, run, nil, taken)
}

// leftoversMessage is for uncommitted work. tree excludes the loop's own files, if known.
func leftoversMessage(run journal.Run, tree string) git.Message {
	n := len(run.Iterations)
	if n == 0 {
		return git.Message{Subject: "chore: work left uncommitted", Trailers: run.Trailers("")}
	}
	it := run.Iterations[n-1]
	subject := fmt.Sprintf("chore: [%s] - work of iteration %d", it.Story, it.Number)
	claimed := it.Read != nil && slices.Contains(it.Read.Claimed, it.Story)
	story, found := run.Plan.Find(it.Story)
	switch {
	case tree != "" && tree == run.WorkBefore(it):
		subject = fmt.Sprintf("chore: [%s] - the loop's own files after iteration %d", it.Story, it.Number)
	case found && claimed && verdict.IsGreen(run, it.Checks):
		subject = fmt.Sprintf("feat: [%s] - %s", story.ID, story.Title)
	}
	return git.Message{Subject: subject, Trailers: run.Trailers(it.Story)}
}
