package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	if err := checkOn(ctx, d.Place.Do, run.Branch); err != nil {
		return fmt.Errorf("the PRD is not committed: %w", err)
	}
	if err := d.Place.AtRest(); err != nil {
		return fmt.Errorf("the PRD is not committed: %w", err)
	}
	if run.Policy.Boxed && run.Box.Log.Path != "" { // the agent wrote it there
		if err := copyLog(memory, home, run.Box.Log); err != nil {
			return fmt.Errorf("write the progress log: %w", err)
		}
	}
	stories, rest := memory.Joined(run.Plan)
	if len(rest) > 0 {
		say("note: changes of the PRD were undone: " + journal.ShortList(rest) + kept(memory, home))
	}
	if err := memory.WritePlan(stories); err != nil {
		return err
	}
	if run.Policy.Boxed && run.Stop.Reason.Status() != policy.StatusCompleted {
		return nil // the box's next commits would not be on top of this one
	}
	var paths []string
	for _, name := range memory.Files() {
		if _, err := os.Lstat(filepath.Join(d.Place.Top, filepath.FromSlash(name))); err == nil {
			paths = append(paths, name)
		}
	}
	_, err := d.Git.Commit(ctx, d.Place, git.PathCommit{
		Paths: paths,
		Message: git.Message{
			Subject:  "chore: the stories as the checks have them",
			Trailers: []string{"Ralph-Run: " + run.ID},
		},
	})
	return err
}

// copyLog brings a run's saved progress log into the user's tree.
func copyLog(memory workspace.Memory, home workspace.Run, saved journal.Attachment) error {
	log, err := workspace.Folder{Path: home.Path}.Read(progressFile, saved.Digest)
	if err != nil {
		return err
	}
	return memory.WriteLog(log)
}

// checkOn refuses another branch than the run's, or none: the user may have checked it out.
func checkOn(ctx context.Context, do git.Runner, branch string) error {
	ref, err := do(ctx, git.Call{Args: []string{"symbolic-ref", "-q", "HEAD"}})
	if err != nil && !git.SaidNo(err) {
		return err
	}
	if strings.TrimSpace(string(ref)) == git.BranchRef(branch) {
		return nil
	}
	return fault.Usage(branch+" is no longer checked out", "git switch "+shell.Quote(branch)+" brings it back", nil)
}
