package git

import (
	"context"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Borrow makes dir a repository that stands where the user's does and reads
// its objects, with the branches besides that are there. Nothing of ours gets
// into the user's.
func (g Git) Borrow(ctx context.Context, from Place, dir string, branches ...string) (*Trusted, error) {
	if from.partial {
		return nil, fault.Usage(from.Top+" is a partial clone: what it lacks would be missing half way",
			"clone it whole: git clone without --filter", nil)
	}
	t, err := g.Init(ctx, dir, from.format)
	if err != nil {
		return nil, err
	}
	if err := t.borrow(from); err != nil {
		return nil, err
	}
	if err := t.UpdateRef(ctx, BranchRef(from.Branch), from.Head); err != nil {
		return nil, err
	}
	for _, branch := range branches {
		if err := t.borrowBranch(ctx, from, branch); err != nil {
			return nil, err
		}
	}
	_, err = t.Ask(ctx, "symbolic-ref", "HEAD", BranchRef(from.Branch))
	return t, err
}

// borrow has the repository read the user's objects.
func (t *Trusted) borrow(from Place) error {
	t.lent = from.stores
	return lend(t.Dir, from.stores[0], from.shallow)
}

func (t *Trusted) borrowBranch(ctx context.Context, from Place, branch string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	sha, err := user{git: t.git, dir: from.Top}.Ask(ctx, "rev-parse", "--verify", "-q", BranchRef(branch)+"^{commit}")
	switch {
	case SaidNo(err):
		return t.DeleteRef(ctx, BranchRef(branch))
	case err != nil:
		return err
	default:
		return t.UpdateRef(ctx, BranchRef(branch), sha)
	}
}
