package git

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// inspectAnyway is for callers that can do without the status: an index may be broken.
func (t *Tree) inspectAnyway(ctx context.Context) (*Inspection, error) {
	s, err := t.Inspect(ctx)
	if failed, ok := Answered(err); !ok || failed.Command != "status" {
		return s, err
	}
	quiet, err := t.disableFilters(ctx)
	if err != nil {
		return nil, err
	}
	s = &Inspection{Dirty: true, tree: quiet, found: []entry{{kind: kindOdd}}}
	return s, s.resolveHead(ctx, "HEAD")
}

// Work is the id of the working tree as a tree: all that counts as work included,
// but what lies Beside, and what HEAD has there, left out. The index stays
// untouched. Repositories within the tree are left out: as a commit they could only
// be refused.
func (s *Inspection) Work(ctx context.Context) (string, error) {
	return s.snapshot(ctx, s.tree.beside())
}

// CommitAll commits all of the working tree, what lies Beside too, and returns
// the new HEAD; the old one when there is nothing to commit. No hook runs, and
// a merge or rebase that was left half way is left behind.
func (s *Inspection) CommitAll(ctx context.Context, m Message) (string, error) {
	tree, err := s.snapshot(ctx, nil)
	if err != nil {
		return "", err
	}
	return s.record(ctx, tree, m)
}

// CommitSnapshot is CommitAll of the files as they were when Work gave tree. What
// lies Beside is committed as it is now. No file is touched: what came later stays
// uncommitted.
func (s *Inspection) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	if err := CheckSHA(tree); err != nil {
		return "", err
	}
	tree, err := s.complete(ctx, tree)
	if err != nil {
		return "", err
	}
	return s.record(ctx, tree, m)
}

func (t *Tree) beside() []string {
	var paths []string
	for _, name := range t.Beside {
		if name = path.Clean(name); name != "." && fs.ValidPath(name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// record commits tree on top of HEAD, unless HEAD has it already.
func (s *Inspection) record(ctx context.Context, tree string, m Message) (string, error) {
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
	if err := t.run(ctx, "reset", "-q", "--mixed", sha); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", err)
	}
	t.known = Standing{Head: sha, Tree: tree}
	return sha, nil
}

func (s *Inspection) snapshot(ctx context.Context, without []string) (string, error) {
	rest := slices.DeleteFunc(slices.Clone(s.found), func(e entry) bool { return e.beneath(without) || e.beneath(ours) })
	drop, err := s.tracks(ctx, without)
	if err != nil {
		return "", err
	}
	if len(rest) == 0 && !drop {
		return s.Tree, nil
	}
	on, done := s.tree.scratch()
	defer done()
	on.nested = slices.ContainsFunc(rest, func(e entry) bool { return !e.simple() })
	if err := on.copyIndex(ctx); err != nil {
		return "", fmt.Errorf("begin a snapshot: %w", err)
	}
	if drop {
		if err := on.drop(ctx, without); err != nil {
			return "", err
		}
	}
	if len(rest) > 0 {
		specs := append([]string{"."}, notOurs()...)
		for _, name := range slices.Concat(without, s.Huge(ctx)) {
			specs = append(specs, ":(top,exclude,literal)"+name)
		}
		if err := on.add(ctx, specs); err != nil {
			return "", err
		}
	}
	return on.write(ctx)
}

func (s *Inspection) tracks(ctx context.Context, paths []string) (bool, error) {
	if len(paths) == 0 {
		return false, nil
	}
	out, err := s.tree.Do(ctx, Call{Args: append([]string{"ls-tree", "-z", "--full-tree", "--name-only", s.Head, "--"}, paths...)})
	if err != nil {
		return false, fmt.Errorf("look for what is no work: %w", err)
	}
	return len(out) > 0, nil
}

func (s *Inspection) complete(ctx context.Context, tree string) (string, error) {
	beside := s.tree.beside()
	if len(beside) == 0 {
		return tree, nil
	}
	all := s.Tree
	if slices.ContainsFunc(s.found, func(e entry) bool { return e.kind == kindOdd || e.besides(beside) }) {
		var err error
		if all, err = s.snapshot(ctx, nil); err != nil {
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

func (e entry) besides(paths []string) bool {
	return e.beneath(paths) || slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(path+"/", strings.TrimSuffix(e.path, "/")+"/")
	})
}

// Leftovers are files that a program left in a tree without being asked to.
type Leftovers map[string]string // path to object

// Leftovers is what is new in the later of two snapshots.
func (t *Tree) Leftovers(ctx context.Context, span Span) (Leftovers, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	if span.From == span.To {
		return Leftovers{}, nil
	}
	changes, err := Compare(ctx, t.Do, span)
	if err != nil {
		return nil, fmt.Errorf("look for leftovers: %w", err)
	}
	leftovers := Leftovers{}
	for _, c := range changes {
		if c.OldMode == ModeNone {
			leftovers[c.Path] = c.ID
		}
	}
	return leftovers, nil
}

// Tidy is a snapshot without leftovers, except those that were changed or committed since.
func (t *Tree) Tidy(ctx context.Context, tree string, leftovers Leftovers) (string, error) {
	if len(leftovers) == 0 {
		return tree, nil
	}
	if err := CheckSHA(tree); err != nil {
		return "", err
	}
	quiet, err := t.disableFilters(ctx)
	if err != nil {
		return "", err
	}
	s, done := quiet.scratch()
	defer done()
	if _, err := s.Do(ctx, s.on("read-tree", tree)); err != nil {
		return "", fmt.Errorf("read the snapshot: %w", err)
	}
	added, err := s.added(ctx)
	if err != nil {
		return "", fmt.Errorf("look for leftovers: %w", err)
	}
	var paths []string
	for _, c := range added {
		if leftovers[c.Path] == c.ID {
			paths = append(paths, c.Path)
		}
	}
	if err := s.remove(ctx, paths); err != nil {
		return "", err
	}
	return s.write(ctx)
}
