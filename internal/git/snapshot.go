package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	for _, name := range without {
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

// scratch is an index of the program's own.
type scratch struct {
	tamed
	index string
	alien bool // repositories within may get in
}

func (t tamed) scratch() (s scratch, done func()) {
	s = scratch{tamed: t, index: filepath.Join(t.lair().dir, "ralph-"+rand.Text()+".index"), alien: true}
	return s, func() { _ = os.Remove(s.index) } // where git failed early there is none
}

func (s scratch) on(args ...string) call {
	return call{args: args, env: []string{"GIT_INDEX_FILE=" + s.index}}
}

// copyIndex makes it an index of HEAD that knows what the real one knows of the
// files, so that only changed ones are read. A real one that is locked or
// broken costs no more than that.
func (s scratch) copyIndex(ctx context.Context) error {
	err := s.run(ctx, "read-tree", "--reset", "--index-output="+s.index, "HEAD")
	if _, ok := answered(err); ok {
		_, err = s.do(ctx, s.on("read-tree", "HEAD"))
	}
	return err
}

// borrowIndex makes it the real index, as it is. The time goes along: by that
// git knows which files may have been changed right after it was written. False
// where it cannot be copied, and where git runs as another user: that one could
// not read it.
func (s scratch) borrowIndex() bool {
	if s.Run != nil {
		return false
	}
	inside, err := os.OpenRoot(s.lair().dir) // no link leads out of it
	if err != nil {
		return false
	}
	defer inside.Close() //nolint:errcheck // the files are closed by themselves
	info, err := inside.Lstat("index")
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	name := filepath.Base(s.index)
	return errors.Join(transfer(inside, "index", name), inside.Chtimes(name, info.ModTime(), info.ModTime())) == nil
}

// transfer makes to a copy of from.
func transfer(within *os.Root, from, to string) error {
	source, err := within.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only read
	target, err := within.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// drop forgets paths; the files stay.
func (s scratch) drop(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	forget := append([]string{"rm", "-r", "-f", "-q", "--cached", "--sparse", "--ignore-unmatch", "--"}, literal(paths)...)
	if _, err := s.do(ctx, s.on(forget...)); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}

func (s scratch) add(ctx context.Context, specs []string) error {
	add := append([]string{"add", "--all", "--ignore-errors", "--"}, specs...)
	// 1 says that some files could not be read; the others are in.
	if _, err := s.do(ctx, s.on(add...)); err != nil && !no(err) {
		return fmt.Errorf("add the working tree: %w", err)
	}
	return nil
}

// bring adds what HEAD has at a path, as the files there are by now, and what
// is new there.
func (s scratch) bring(ctx context.Context, name string) error {
	kept, err := s.do(ctx, call{args: []string{"ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", name}})
	if err != nil {
		return err
	}
	put := s.on("update-index", "-z", "--index-info")
	put.stdin = strings.NewReader(string(kept))
	if _, err := s.do(ctx, put); err != nil {
		return err
	}
	specs := append(literal([]string{name}), notOurs()...)
	there, err := s.do(ctx, s.on(append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, specs...)...))
	if err != nil || len(there) == 0 { // of nothing at all add complains
		return err
	}
	return s.add(ctx, specs)
}

func (s scratch) write(ctx context.Context) (string, error) {
	if s.alien {
		if err := s.leaveOutRepositories(ctx); err != nil {
			return "", err
		}
	}
	out, err := s.do(ctx, s.on("write-tree"))
	if err != nil {
		return "", fmt.Errorf("write the tree: %w", err)
	}
	tree := strings.TrimSpace(string(out))
	return tree, checkSHA(tree)
}

func (s scratch) leaveOutRepositories(ctx context.Context) error {
	added, err := s.added(ctx)
	if err != nil {
		return fmt.Errorf("look for repositories within: %w", err)
	}
	var paths []string
	for _, c := range added {
		if c.mode == modeLink {
			paths = append(paths, c.path)
		}
	}
	return s.remove(ctx, paths)
}

// added is what HEAD has not.
func (s scratch) added(ctx context.Context) ([]change, error) {
	out, err := s.do(ctx, s.on("diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", "--no-abbrev", "--diff-filter=A", "HEAD"))
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// remove takes single entries out.
func (s scratch) remove(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	c := s.on("update-index", "--force-remove", "-z", "--stdin")
	c.stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	if _, err := s.do(ctx, c); err != nil {
		return fmt.Errorf("leave out what is no work: %w", err)
	}
	return nil
}
