package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Work writes the working files as a tree, without the paths in Beside, and returns its id. It does not change the
// index. It leaves out nested repositories: Take would refuse them.
func (s *Inspection) Work(ctx context.Context) (string, error) {
	return s.snapshot(ctx, s.tree.beside())
}

// CommitSnapshot commits the files in tree, which Work returned earlier, and returns the new HEAD, or the old one if
// nothing changed. The paths in Beside are committed as they are now. It changes no file: later changes stay
// uncommitted. No hook runs, and an unfinished merge or rebase is abandoned.
func (s *Inspection) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	if err := CheckSHA(tree); err != nil {
		return "", err
	}
	tree, err := s.withBeside(ctx, tree)
	if err != nil {
		return "", err
	}
	tree, s.LeftOut, err = s.tree.leaveOutAt(ctx, s.Tree, tree, s.tree.beside())
	if err != nil {
		return "", err
	}
	return s.commitOnHead(ctx, tree, m)
}

func (t *Tree) beside() []string {
	var paths []string
	for _, name := range t.Beside {
		name = path.Clean(name)
		if name != "." && fs.ValidPath(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// commitOnHead commits tree on top of HEAD, unless HEAD has this tree.
func (s *Inspection) commitOnHead(ctx context.Context, tree string, m Message) (string, error) {
	if tree == s.Tree {
		return s.Head, nil
	}
	t := s.tree
	sha, err := t.commit(ctx, s.Head, tree, m)
	if err != nil {
		return "", err
	}
	if err := t.unlock(ctx, s.branch); err != nil {
		return "", err
	}
	// The index comes first: if ralph is killed before the reset, it does not have the commit's files as removed.
	if err := t.run(ctx, "read-tree", "--reset", tree); err != nil {
		return "", fmt.Errorf("bring the index to the new commit: %w", err)
	}
	// Fails if HEAD has moved since: a branch would lose what somebody else committed there.
	reason := "commit: " + OneLine(m.Subject, 200)
	if err := t.run(ctx, "update-ref", "-m", reason, "HEAD", sha, s.Head); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", errors.Join(err, t.run(ctx, "reset", "-q", "--mixed")))
	}
	if err := t.run(ctx, "reset", "-q", "--mixed"); err != nil {
		return "", fmt.Errorf("bring the index to the new commit: %w", err)
	}
	t.known = TreeState{Head: sha, Tree: tree}
	return sha, nil
}

func (s *Inspection) snapshot(ctx context.Context, without []string) (string, error) {
	rest := slices.DeleteFunc(slices.Clone(s.found), func(e entry) bool {
		return e.isWithin(without) || e.isWithin(ours)
	})
	drop, err := s.hasAny(ctx, without)
	if err != nil {
		return "", err
	}
	if len(rest) == 0 && !drop {
		return s.Tree, nil
	}
	on, done := s.tree.scratch()
	defer done()
	if err := on.copyIndex(ctx); err != nil {
		return "", fmt.Errorf("begin a snapshot: %w", err)
	}
	if drop {
		if err := on.untrack(ctx, without); err != nil {
			return "", err
		}
	}
	if len(rest) > 0 {
		specs := []string{"."}
		for _, name := range slices.Concat(ours, without, s.Huge(ctx)) {
			specs = append(specs, ":(top,exclude,literal)"+name)
		}
		if err := on.add(ctx, specs); err != nil {
			return "", err
		}
	}
	return on.write(ctx)
}

func (s *Inspection) hasAny(ctx context.Context, paths []string) (bool, error) {
	if len(paths) == 0 {
		return false, nil
	}
	args := append([]string{"ls-tree", "-z", "--full-tree", "--name-only", s.Head, "--"}, paths...)
	out, err := s.tree.Do(ctx, Call{Args: args})
	if err != nil {
		return false, fmt.Errorf("look for files that are not work: %w", err)
	}
	return len(out) > 0, nil
}

func (s *Inspection) withBeside(ctx context.Context, tree string) (string, error) {
	beside := s.tree.beside()
	if len(beside) == 0 {
		return tree, nil
	}
	all := s.Tree
	if slices.ContainsFunc(s.found, func(e entry) bool { return e.overlaps(beside) }) {
		var err error
		all, err = s.snapshot(ctx, nil)
		if err != nil {
			return "", err
		}
	}
	changes, err := Compare(ctx, s.tree.Do, Span{From: tree, To: all}, literal(beside)...)
	if err != nil || len(changes) == 0 {
		return tree, err
	}
	var wanted []TreeEntry
	for _, c := range changes {
		wanted = append(wanted, TreeEntry{c.Path, c.Mode, c.ID})
	}
	on, done := s.tree.scratch()
	defer done()
	return WriteTree(ctx, s.tree.Do, Index{on.index, tree}, wanted)
}

func (e entry) overlaps(paths []string) bool {
	return e.isWithin(paths) || slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(path+"/", strings.TrimSuffix(e.path, "/")+"/")
	})
}

// Without returns a snapshot with some of its changes undone.
func (t *Tree) Without(ctx context.Context, tree string, changes []Change) (string, error) {
	if len(changes) == 0 {
		return tree, nil
	}
	var before []TreeEntry
	for _, c := range changes {
		before = append(before, TreeEntry{c.Path, c.OldMode, c.OldID})
	}
	on, done := t.scratch()
	defer done()
	return WriteTree(ctx, t.Do, Index{on.index, tree}, before)
}
