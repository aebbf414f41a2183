package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Own is the user's repository as a tree to work in, when the agent works in
// the user's own files. What is committed by the program there is committed as
// the user, where git knows who that is, and without what the user ignores.
func (g Git) Own(ctx context.Context, at Place) (*Tree, error) {
	u := user{git: g, dir: at.Top}
	out, err := u.Ask(ctx, "rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir")
	dir, common, found := strings.Cut(out, "\n")
	if err != nil || !found {
		return nil, errors.Join(fmt.Errorf("find the repository of %s: %w", at.Top, errOddAnswer), err)
	}
	like := u.taste(ctx, g.User.files())
	own := lair{filepath.Clean(dir), filepath.Clean(common)}
	return &Tree{
		Dir: at.Top, Author: like.who(), git: g,
		own: &own, needs: g.needsOf(at, own), ignore: like.ignore(g.User), endings: like.endings(),
	}, nil
}

// TreeID is the tree of the commit that the tree stands at.
func (t *Tree) TreeID(ctx context.Context) (string, error) {
	sha, err := t.Ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of HEAD: %w", err)
	}
	return sha, CheckSHA(sha)
}

// Look is how the tree stands, as the hand-over of a tree apart would tell it:
// what was committed since last is the user's own already.
func (t *Tree) Look(ctx context.Context) (Standing, error) {
	s, err := t.See(ctx)
	if err != nil {
		return Standing{}, err
	}
	return s.Standing(ctx)
}

// Standing is what Look gives.
func (s *Sight) Standing(ctx context.Context) (Standing, error) {
	work, err := s.Work(ctx)
	return Standing{Head: s.Head, Tree: s.Tree, Work: work, Dirty: s.Dirty}, err
}

// Standing is how a tree stands.
type Standing struct {
	Head  string
	Tree  string // of Head
	Work  string // of the files as they are, uncommitted work included
	Dirty bool
}

// Exclude keeps patterns out of the user's commits without a change to any
// tracked file.
func (g Git) Exclude(ctx context.Context, at Place, patterns ...string) error {
	name, err := user{git: g, dir: at.Top}.Ask(ctx, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return fmt.Errorf("find the exclude file of %s: %w", at.Top, err)
	}
	there, err := untrusted.ReadFile(name, 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", name, err)
	}
	lines := strings.Split(string(there), "\n")
	var more []string
	for _, pattern := range patterns {
		if !slices.Contains(lines, pattern) {
			more = append(more, pattern)
		}
	}
	if len(more) == 0 {
		return nil
	}
	text := strings.TrimRight(string(there), "\n") + "\n" + strings.Join(more, "\n") + "\n"
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := untrusted.WriteFile(name, []byte(strings.TrimLeft(text, "\n")), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Strayed is why what a tree stands at is not the work that began at start on
// branch; empty where it is. Somebody may have checked out another branch
// there, or written history anew. Last is a commit that is known to hold start.
func (s *Sight) Strayed(ctx context.Context, branch, start, last string) (string, error) {
	if s.branch != branch {
		return fmt.Sprintf("%s is not checked out any more: git switch %s brings it back", branch, branch), nil
	}
	if s.Head == start || s.Head == last {
		return "", nil
	}
	_, err := s.tree.Ask(ctx, "merge-base", "--is-ancestor", start, s.Head)
	if _, ok := Answered(err); ok {
		return fmt.Sprintf("its history no longer holds %.12s, where the run began: git reflog %s has what was there", start, branch), nil
	}
	return "", err
}
