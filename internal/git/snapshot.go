package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// inspectAnyway is Inspect that works with a broken index. It then assumes that everything changed.
func (t *Tree) inspectAnyway(ctx context.Context) (*Inspection, error) {
	s, err := t.Inspect(ctx)
	if failed, ok := Answered(err); !ok || failed.Command != "status" {
		return s, err
	}
	s = &Inspection{Dirty: true, tree: t, found: []entry{{kind: kindOdd}}}
	return s, s.resolveHead(ctx, "HEAD")
}

// Work writes the working files as a tree, without the paths in Beside, and returns
// its id. It does not change the index. It leaves out nested repositories: Take
// would refuse them.
func (s *Inspection) Work(ctx context.Context) (string, error) {
	return s.snapshot(ctx, s.tree.beside())
}

// CommitSnapshot commits the files in tree, which Work returned earlier, and returns the
// new HEAD, or the old one if nothing changed. The paths in Beside are committed as they
// are now. It changes no file: later changes stay uncommitted. No hook runs, and an
// unfinished merge or rebase is abandoned.
func (s *Inspection) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	if err := CheckSHA(tree); err != nil {
		return "", err
	}
	tree, err := s.withBeside(ctx, tree)
	if err == nil {
		tree, s.Unfiltered, err = s.tree.withoutUnfiltered(ctx, s.Tree, tree, s.tree.beside())
	}
	if err != nil {
		return "", err
	}
	return s.commitOnHead(ctx, tree, m)
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
	if err := t.run(ctx, "update-ref", "-m", "commit: "+OneLine(m.Subject, 200), "HEAD", sha, s.Head); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", errors.Join(err, t.run(ctx, "reset", "-q", "--mixed")))
	}
	if err := t.run(ctx, "reset", "-q", "--mixed"); err != nil {
		return "", fmt.Errorf("bring the index to the new commit: %w", err)
	}
	t.known = TreeState{Head: sha, Tree: tree}
	return sha, nil
}

func (s *Inspection) snapshot(ctx context.Context, without []string) (string, error) {
	hidden := s.unhidden()
	rest := slices.DeleteFunc(slices.Clone(s.found), func(e entry) bool {
		return e.isWithin(without) || e.isWithin(ours) || hidden[e.path]
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
	on.nested = slices.ContainsFunc(rest, func(e entry) bool { return !e.isPlainFile() })
	if err := on.copyIndex(ctx); err != nil {
		return "", fmt.Errorf("begin a snapshot: %w", err)
	}
	if drop {
		if err := on.untrack(ctx, without); err != nil {
			return "", err
		}
	}
	if len(rest) > 0 {
		specs := append([]string{"."}, excludeOurs()...)
		for _, name := range slices.Concat(without, slices.Sorted(maps.Keys(hidden)), s.Huge(ctx)) {
			specs = append(specs, ":(top,exclude,literal)"+name)
		}
		submodules, err := on.add(ctx, specs)
		if err == nil {
			err = on.update(ctx, submodules, "--add", "--remove")
		}
		if err != nil {
			return "", err
		}
	}
	return on.write(ctx)
}

// unhidden returns the hidden files that git sees as changed by now, or all if that is not known.
func (s *Inspection) unhidden() map[string]bool {
	if slices.ContainsFunc(s.found, func(e entry) bool { return e.path == "" }) {
		return s.tree.hidden
	}
	changed := map[string]bool{}
	for _, e := range s.found {
		if s.tree.hidden[e.path] {
			changed[e.path] = true
		}
	}
	return changed
}

func (s *Inspection) hasAny(ctx context.Context, paths []string) (bool, error) {
	if len(paths) == 0 {
		return false, nil
	}
	out, err := s.tree.Do(ctx, Call{Args: append([]string{"ls-tree", "-z", "--full-tree", "--name-only", s.Head, "--"}, paths...)})
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
	if slices.ContainsFunc(s.found, func(e entry) bool { return e.kind == kindOdd || e.overlaps(beside) }) {
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

func (e entry) overlaps(paths []string) bool {
	return e.isWithin(paths) || slices.ContainsFunc(paths, func(path string) bool {
		return strings.HasPrefix(path+"/", strings.TrimSuffix(e.path, "/")+"/")
	})
}

// Leftovers are files that a check left in a tree.
type Leftovers map[string]string // path to object

// Has reports whether a change adds a leftover as it was.
func (l Leftovers) Has(c Change) bool { return c.OldMode == ModeNone && l[c.Path] == c.ID }

// Leftovers returns the new files in the later of two snapshots.
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

// Unfiltered returns the paths of changes that a filter would have to write, as ralph's git runs none: files that the
// project encrypts (git-crypt, git-agecrypt, crypt of transcrypt), and existing files of Git LFS.
func (t *Tree) Unfiltered(ctx context.Context, changes []Change) (paths []string, err error) {
	if len(changes) == 0 {
		return nil, nil
	}
	var names strings.Builder
	for _, c := range changes {
		names.WriteString(c.Path + "\x00")
	}
	out, err := t.Do(ctx, Call{Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: strings.NewReader(names.String()), Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("look for files with filters: %w", err)
	}
	isFile := func(mode string) bool { return mode != ModeNone && mode != ModeLink && mode != ModeSymlink }
	said := strings.Split(string(out), "\x00") // path, attribute and value of each
	for i, c := range changes {
		filter := said[min(3*i+2, len(said)-1)]
		if isFile(c.Mode) && (strings.Contains(filter, "crypt") || filter == "lfs" && isFile(c.OldMode)) {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// withoutUnfiltered undoes changes at some paths from a tree to a later one that a filter would have to write.
func (t *Tree) withoutUnfiltered(ctx context.Context, from, to string, at []string) (tree string, paths []string, err error) {
	if from == to || len(at) == 0 {
		return to, nil, nil
	}
	changes, err := Compare(ctx, t.Do, Span{From: from, To: to}, literal(at)...)
	if err == nil {
		paths, err = t.Unfiltered(ctx, changes)
	}
	if err != nil {
		return "", nil, err
	}
	tree, err = t.Without(ctx, to, slices.DeleteFunc(changes, func(c Change) bool { return !slices.Contains(paths, c.Path) }))
	return tree, paths, err
}
