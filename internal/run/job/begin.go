package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// begin finds where a run begins, and records it.
func (s *activeRun) begin(ctx context.Context, asked NewRun) error {
	var err error
	asked.Base, asked.Start, err = s.startingCommits(ctx, asked)
	if err != nil {
		return err
	}
	if asked.Base == asked.Unfinished.Base && asked.Base != asked.Start {
		asked.Notes = append(asked.Notes, noteUnfinished(asked))
	}
	asked.Tree, asked.Work, err = s.startingTrees(ctx, asked)
	if err != nil {
		return err
	}
	asked, err = s.detectChecks(ctx, asked)
	if err != nil {
		return err
	}
	asked.Form = s.pullTemplate(ctx, asked)
	if err := s.record.Append(asked.RunBegan); err != nil {
		return err
	}
	for _, note := range asked.Notes {
		if err := s.record.Append(note); err != nil {
			return err
		}
	}
	return nil
}

// resume gets the work of a run back, with what others pushed since.
func (s *activeRun) resume(ctx context.Context, old journal.Run, resumed journal.Resumed) error {
	if err := s.publisher.restoreWork(ctx, old); err != nil {
		return err
	}
	if err := s.record.Append(resumed); err != nil {
		return err
	}
	return s.publisher.mergePushed(ctx, s.record.Run())
}

// noteUnfinished explains why the commits of an earlier run count as work of this one.
func noteUnfinished(asked NewRun) journal.Noted {
	return journal.Noted{What: fmt.Sprintf(
		"the run %s of this branch did not complete, so all commits since %.7s count as work of this run; "+
			"`%s` continues that run; "+
			"if its commits shall be the base, create a new branch first: git switch -c NAME",
		asked.Unfinished.ID, asked.Base, asked.Unfinished.Resume.Command(),
	)}
}

// startingTrees returns the tree of the first commit, and that of the files as the agent finds
// them, which is not known yet if the project tracks the loop's memory.
func (s *activeRun) startingTrees(ctx context.Context, asked NewRun) (tree, work string, err error) {
	if s.repo.trusted == nil {
		if s.tree.code.UserTree == nil && s.supervisor.command == nil {
			return "", workspace.Fingerprint(ctx, s.tree.code.Dir), nil
		}
		return "", asked.Work, nil
	}
	tree, err = s.repo.trusted.TreeOf(ctx, asked.Start)
	if err != nil || asked.Work != "" {
		return tree, asked.Work, err
	}
	memory := path.Join(cmp.Or(asked.Policy.Memory, workspace.MemoryDir), "prd.json")
	if _, err := s.repo.trusted.ReadFile(ctx, git.At{Commit: asked.Start, Path: memory}, 1<<20); err == nil {
		return tree, "", nil
	}
	return tree, tree, nil
}

// startingCommits returns the base, and where work begins: an earlier run's branch, or the base.
func (s *activeRun) startingCommits(ctx context.Context, asked NewRun) (base, start string, err error) {
	if s.tree.code.UserTree != nil || s.repo.trusted == nil {
		base, err = s.firstBase(ctx, asked.Base, asked.Unfinished)
		return base, asked.Base, err
	}
	base, err = s.repo.trusted.Resolve(ctx, "refs/heads/"+asked.BaseRef)
	if err != nil {
		return "", "", err
	}
	start, err = s.repo.trusted.Resolve(ctx, "refs/heads/"+asked.Branch)
	if errors.Is(err, git.ErrNotFound) {
		start, err = base, nil
	}
	if err != nil {
		return "", "", err
	}
	if !asked.Task.Update { // newer tests would fail for lack of the code that they test
		base, err = s.repo.trusted.MergeBase(ctx, git.Span{From: base, To: start})
		if err != nil {
			return "", "", err
		}
	}
	base, err = s.firstBase(ctx, base, asked.Unfinished)
	return base, start, err
}

// firstBase returns the base of an unfinished run on the same branch, if its commits are still there: else its changes
// of tests would count as the base's.
func (s *activeRun) firstBase(ctx context.Context, base string, old journal.Run) (string, error) {
	if old.Base == "" || old.Head == "" || s.repo.trusted == nil {
		return base, nil
	}
	for _, span := range []git.Span{{From: old.Head, To: base}, {From: old.Base, To: old.Head}} {
		if _, err := s.repo.trusted.Resolve(ctx, span.From); errors.Is(err, git.ErrNotFound) {
			return base, nil
		}
		within, err := s.repo.trusted.IsAncestor(ctx, span.From, span.To)
		if err != nil || !within {
			return base, err
		}
	}
	return old.Base, nil
}

func (s *activeRun) detectChecks(ctx context.Context, asked NewRun) (NewRun, error) {
	if !asked.DetectChecks || s.repo.trusted == nil {
		return asked, nil
	}
	found, err := checkout.Surveyed(ctx, s.repo.trusted, git.At{Commit: asked.Base, Path: asked.Policy.Subfolder})
	if err != nil {
		return asked, err
	}
	p, notes := checkout.Detect(asked.Policy, found)
	asked.Policy = p
	asked.Notes = append(asked.Notes, notes...)
	return asked, nil
}

const maxPullTemplate = 16 << 10

// pullTemplate returns nothing if no pull request will be opened or the template cannot be read.
func (s *activeRun) pullTemplate(ctx context.Context, asked NewRun) string {
	if s.repo.trusted == nil || !asked.Policy.Publish || asked.Policy.NoPull || asked.Pull != nil {
		return ""
	}
	files, err := s.repo.trusted.Files(ctx, asked.Base)
	if err != nil {
		return ""
	}
	name := view.PullTemplate(files)
	if name == "" {
		return ""
	}
	text, err := s.repo.trusted.ReadFile(ctx, git.At{Commit: asked.Base, Path: name}, maxPullTemplate)
	if err != nil {
		s.record.log("the template for pull requests was not read: " + fault.Told(err))
		return ""
	}
	return string(text)
}
