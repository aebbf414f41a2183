package git

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Snapshot is the id of the working tree as a tree: all that Status tells of
// included, but what lies Beside, and what HEAD has there, left out. The index
// stays untouched. Repositories within the tree are left out: as a commit they
// could only be refused.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	s, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	return s.Work(ctx)
}

// look is See, for those who can do without what it cannot see: an index may be
// broken, and still the files are there.
func (t *Tree) look(ctx context.Context) (*Sight, error) {
	s, err := t.See(ctx)
	if failed, ok := answered(err); !ok || failed.Command != "status" {
		return s, err
	}
	quiet, err := t.tame(ctx)
	if err != nil {
		return nil, err
	}
	at, err := t.Head(ctx)
	if err != nil {
		return nil, err
	}
	s = &Sight{Dirty: true, tree: quiet, found: []entry{{kind: kindOdd}}}
	if s.base, err = t.standsAt(ctx, at); err != nil {
		return nil, err
	}
	s.Head, s.Tree = s.base.commit, s.base.tree
	return s, nil
}

// Work is what Snapshot gives.
func (s *Sight) Work(ctx context.Context) (string, error) { return s.snapshot(ctx, s.tree.beside()) }

// CommitAll commits all of the working tree, what lies Beside too, and returns
// the new HEAD; the old one when there is nothing to commit. No hook runs, and
// a merge or rebase that was left half way is left behind.
func (t *Tree) CommitAll(ctx context.Context, m Message) (string, error) {
	s, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	return s.CommitAll(ctx, m)
}

// CommitAll is the tree's.
func (s *Sight) CommitAll(ctx context.Context, m Message) (string, error) {
	tree, err := s.snapshot(ctx, nil)
	if err != nil {
		return "", err
	}
	return s.record(ctx, tree, m)
}

// CommitSnapshot is CommitAll of the files as they were when Snapshot gave
// tree. What lies Beside is committed as it is now. No file is touched: what
// came later stays uncommitted.
func (t *Tree) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	s, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	return s.CommitSnapshot(ctx, tree, m)
}

// CommitSnapshot is the tree's.
func (s *Sight) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	if err := checkSHA(tree); err != nil {
		return "", err
	}
	tree, err := s.complete(ctx, tree)
	if err != nil {
		return "", err
	}
	return s.record(ctx, tree, m)
}

// beside are the paths in Beside that mean something within the tree.
func (t *Tree) beside() []string {
	var paths []string
	for _, name := range t.Beside {
		if name = path.Clean(name); name != "." && fs.ValidPath(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// record makes tree a commit on top of HEAD and moves there, unless HEAD has
// that tree already.
func (s *Sight) record(ctx context.Context, tree string, m Message) (string, error) {
	if tree == s.Tree {
		return s.Head, nil
	}
	t := s.tree
	sha, err := t.commit(ctx, s.Head, tree, m)
	if err != nil {
		return "", err
	}
	if err := t.unlockOn(ctx, s.branch); err != nil {
		return "", err
	}
	if err := t.run(ctx, "reset", "-q", "--mixed", sha); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", err)
	}
	return sha, nil
}

// snapshot is the working tree without some paths.
func (s *Sight) snapshot(ctx context.Context, without []string) (string, error) {
	rest := slices.DeleteFunc(slices.Clone(s.found), func(e entry) bool { return e.beneath(without) || e.beneath(ours) })
	if len(rest) == 0 {
		if tree, ok := s.tree.without(ctx, s.base, without); ok {
			return tree, nil
		}
	}
	on, done := s.tree.scratch()
	defer done()
	on.alien = slices.ContainsFunc(rest, func(e entry) bool { return !e.simple() })
	if s.staged() || !on.borrowIndex() {
		if err := on.copyIndex(ctx); err != nil {
			return "", fmt.Errorf("begin a snapshot: %w", err)
		}
	}
	if s.base.holds(without) {
		if err := on.drop(ctx, without); err != nil {
			return "", err
		}
	}
	specs := append([]string{"."}, notOurs()...)
	for _, name := range slices.Concat(without, s.Huge(ctx)) {
		specs = append(specs, ":(top,exclude,literal)"+name)
	}
	if err := on.add(ctx, specs); err != nil {
		return "", err
	}
	return on.write(ctx)
}

// staged tells whether the index may hold what HEAD does not.
func (s *Sight) staged() bool {
	return slices.ContainsFunc(s.found, func(e entry) bool { return e.kind != kindUntracked && !e.simple() })
}

// complete is a snapshot with what lies beside in it.
func (s *Sight) complete(ctx context.Context, tree string) (string, error) {
	t, beside := s.tree, s.tree.beside()
	if !slices.ContainsFunc(s.found, func(e entry) bool { return e.kind == kindOdd || e.besides(beside) }) {
		if whole, ok := s.asHead(ctx, tree, beside); ok {
			return whole, nil
		}
	}
	on, done := t.scratch()
	defer done()
	on.alien = true
	if _, err := on.do(ctx, on.on("read-tree", tree)); err != nil {
		return "", fmt.Errorf("read the snapshot: %w", err)
	}
	if err := on.drop(ctx, beside); err != nil {
		return "", err
	}
	for _, name := range beside {
		if err := on.bring(ctx, name); err != nil {
			return "", fmt.Errorf("add %s: %w", name, err)
		}
	}
	return on.write(ctx)
}

// besides tells whether it lies at one of some paths, below or above.
func (e entry) besides(paths []string) bool {
	return e.beneath(paths) || slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(path+"/", strings.TrimSuffix(e.path, "/")+"/")
	})
}

// asHead is a snapshot with what lies beside as HEAD has it; false where that
// does not all lie at the top.
func (s *Sight) asHead(ctx context.Context, tree string, beside []string) (string, bool) {
	if !s.base.holds(beside) {
		return tree, true
	}
	if slices.ContainsFunc(beside, func(path string) bool { return strings.Contains(path, "/") }) {
		return "", false
	}
	raw, err := s.tree.do(ctx, call{args: []string{"cat-file", "tree", tree}})
	if err != nil {
		return "", false
	}
	top, err := readListing(raw, len(tree)/2)
	if err != nil {
		return "", false
	}
	whole, err := s.tree.writeTree(ctx, top.with(s.base.top, beside))
	return whole, err == nil
}
