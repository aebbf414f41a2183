package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// ground is where the agent works.
type ground interface {
	// folder is the agent's working directory.
	folder(ctx context.Context) (string, error)
	// take makes what was committed there the run's own.
	take(ctx context.Context, run journal.Run) (journal.CommitsTaken, error)
	// sweep commits what was left uncommitted.
	sweep(ctx context.Context, run journal.Run) error
	// diff is what has changed since the run began, at most limit bytes of it.
	diff(ctx context.Context, run journal.Run, limit int) (string, error)
}

// ground is chosen by what the job was given: the user's own repository, a
// folder that is none, or else a tree apart.
func (s *site) onGround() ground {
	switch {
	case s.Own != nil:
		return own{tree: s.Own, trusted: s.trusted}
	case s.Dir != "":
		return bare{dir: s.Dir}
	}
	return apart{s}
}

// apart is a tree of the agent's own: its commits are handed over.
type apart struct{ *site }

func (a apart) folder(ctx context.Context) (string, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return "", err
	}
	return tree.Dir, nil
}

// tree is the agent's, grown where it is not there yet. It is grown under
// another name first, so that one cut off half way is never taken for whole.
func (a apart) tree(ctx context.Context) (*git.Tree, error) {
	dir := filepath.Join(a.work(), "tree")
	if _, err := os.Stat(dir); err == nil {
		return a.trusted.OpenTree(dir)
	}
	young := dir + ".new"
	if err := os.RemoveAll(young); err != nil {
		return nil, fmt.Errorf("clear %s: %w", young, err)
	}
	run := a.Run()
	plot := git.Plot{Dir: young, Branch: run.Branch, SHA: run.Head, Exclude: []string{"/" + memory(run) + "/"}}
	if _, err := a.trusted.Grow(ctx, plot); err != nil {
		return nil, err
	}
	if err := os.Rename(young, dir); err != nil {
		return nil, fmt.Errorf("move the agent's tree into place: %w", err)
	}
	return a.trusted.OpenTree(dir)
}

func (a apart) sweep(ctx context.Context, run journal.Run) error {
	tree, err := a.tree(ctx)
	if err != nil {
		return err
	}
	return sweep(ctx, run, tree)
}

// take has the commits handed over. Commits that had to be made again become
// the agent's own history.
func (a apart) take(ctx context.Context, run journal.Run) (journal.CommitsTaken, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken, err := a.trusted.Take(ctx, tree, git.Terms{Base: run.Base, Last: run.Head, Protect: run.Policy.Protect})
	if err != nil || len(taken.Refused) > 0 {
		return taken, err
	}
	head, err := tree.Head(ctx)
	if err == nil && head != taken.To {
		err = tree.Reset(ctx, taken.To)
	}
	return taken, err
}

func (a apart) diff(ctx context.Context, run journal.Run, limit int) (string, error) {
	tree, err := a.tree(ctx)
	if err != nil {
		return "", err
	}
	text, _, err := tree.Diff(ctx, run.Start, limit)
	return text, err
}

// own is the user's repository: what is committed there is there already.
type own struct {
	tree    *git.Tree
	trusted *git.Trusted // borrows the user's objects; nil where nothing is proven
}

func (o own) folder(context.Context) (string, error) { return o.tree.Dir, nil }

func (o own) sweep(ctx context.Context, run journal.Run) error { return sweep(ctx, run, o.tree) }

func (o own) take(ctx context.Context, run journal.Run) (journal.CommitsTaken, error) {
	standing, err := o.tree.Look(ctx)
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken := journal.CommitsTaken{
		From: run.Head, To: standing.Head, Tree: standing.Tree, Work: standing.Work, Dirty: standing.Dirty,
	}
	if o.trusted != nil && taken.From != taken.To {
		taken.Commits, err = o.trusted.Log(ctx, git.Span{From: taken.From, To: taken.To})
	}
	return taken, err
}

func (o own) diff(ctx context.Context, run journal.Run, limit int) (string, error) {
	text, _, err := o.tree.Diff(ctx, run.Start, limit)
	return text, err
}

// bare is a folder without a repository: nothing is known of it but what the
// checks say.
type bare struct{ dir string }

func (b bare) folder(context.Context) (string, error)               { return b.dir, nil }
func (bare) sweep(context.Context, journal.Run) error               { return nil }
func (bare) diff(context.Context, journal.Run, int) (string, error) { return "", nil }

func (bare) take(context.Context, journal.Run) (journal.CommitsTaken, error) {
	return journal.CommitsTaken{}, nil
}

// sweep commits what is uncommitted in a tree.
func sweep(ctx context.Context, run journal.Run, tree *git.Tree) error {
	status, err := tree.Status(ctx)
	if err != nil || !status.Dirty {
		return err
	}
	_, err = tree.CommitAll(ctx, leftovers(run))
	return err
}
