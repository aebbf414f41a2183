package job

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// UserRepository is a user's own repository. Only the loop's files change in it.
type UserRepository struct {
	Git   git.Git
	Place git.Place
}

// Fetch makes dir a repository that borrows the user's objects.
func (d UserRepository) Fetch(ctx context.Context, dir, base, branch string) (*git.Trusted, error) {
	return d.Git.Borrow(ctx, d.Place, dir, base, branch)
}

// CommitPRD commits the PRD with the verdicts on its stories, so that the next run does not trust
// a rejected claim, and the log, as the next run starts only in a clean tree.
func (d UserRepository) CommitPRD(ctx context.Context, run journal.Run, home workspace.Run, say func(string)) error {
	memory := workspace.Memory{Tree: d.Place.Top, Dir: run.Policy.Memory}
	if err := cmp.Or(checkOn(ctx, d.Place.Do, run.Branch), checkConflicts(ctx, d.Place.Do, memory.Files()...)); err != nil {
		return fmt.Errorf("the PRD is not committed: %w", err)
	}
	if run.Policy.Boxed && run.Log.Path != "" { // the agent wrote it there
		log, err := workspace.Folder{Path: home.Path}.Read(progressFile, run.Log.Digest)
		if err == nil {
			err = memory.WriteLog(log)
		}
		if err != nil {
			return fmt.Errorf("write the progress log: %w", err)
		}
	}
	stories, rest := memory.Joined(run.Plan)
	if len(rest) > 0 {
		say("note: changes of the PRD were put back: " + journal.ShortList(rest) + kept(memory, home))
	}
	err := memory.WritePlan(stories)
	if err != nil || run.Policy.Boxed && run.Stop.Reason.Status() != policy.StatusCompleted {
		return err // the box's next commits would not be on top of this one
	}
	_, err = d.Git.Commit(ctx, d.Place, git.PathCommit{
		Paths: slices.DeleteFunc(memory.Files(), func(name string) bool {
			_, err := os.Lstat(filepath.Join(d.Place.Top, filepath.FromSlash(name)))
			return err != nil
		}),
		Message: git.Message{Subject: "chore: the stories as the checks have them", Trailers: []string{"Ralph-Run: " + run.ID}},
	})
	return err
}

// checkOn refuses another branch than the run's, or none: the agent may have checked it out.
func checkOn(ctx context.Context, do git.Runner, branch string) error {
	at, err := do(ctx, git.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}})
	if err != nil && !git.SaidNo(err) || strings.TrimSpace(string(at)) == git.BranchRef(branch) {
		return err
	}
	return fault.Usage(branch+" is no longer checked out", "git switch "+shell.Quote(branch)+" brings it back", nil)
}

// checkMerged refuses a tree in which somebody began a merge, or took changes back out of a stash, while the agent worked:
// a commit would end that, with the marks of its conflicts.
func checkMerged(ctx context.Context, tree *git.Tree) error {
	return cmp.Or(tree.AtRest(), checkConflicts(ctx, tree.Do))
}

// checkConflicts refuses conflicts at some paths, or anywhere.
func checkConflicts(ctx context.Context, do git.Runner, paths ...string) error {
	names, err := do(ctx, git.Call{Args: append([]string{"diff", "--name-only", "--diff-filter=U", "-z", "--"}, paths...)})
	if err == nil && len(names) > 0 {
		err = fault.Usage("there are conflicts in "+journal.ShortList(strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00")), "git status says how to end them", nil)
	}
	return err
}

// whyRefused returns why the work in the user's tree cannot be taken, or "".
func (s *trees) whyRefused(ctx context.Context, run journal.Run, seen *git.Inspection) (string, error) {
	why, err := seen.WhyDiverged(ctx, run.Branch, run.Start, run.Head)
	if err != nil || why != "" || run.Policy.Done != policy.ByStories {
		return why, err
	}
	if unmerged := checkMerged(ctx, s.UserTree); unmerged != nil {
		why = fault.Told(unmerged) + ", but end only what you began yourself"
	}
	return why, nil
}
