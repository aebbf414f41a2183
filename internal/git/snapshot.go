package git

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Snapshot is the id of the working tree as a tree: all that Status tells of
// included, but what lies Beside, and what HEAD has there, left out. The index
// stays untouched. Repositories within the tree are left out: as a commit they
// could only be refused.
func (t *Tree) Snapshot(ctx context.Context) (string, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	return quiet.snapshot(ctx, t.beside())
}

// CommitAll commits all of the working tree, what lies Beside too, and returns
// the new HEAD; the old one when there is nothing to commit. No hook runs, and
// a merge or rebase that was left half way is left behind.
func (t *Tree) CommitAll(ctx context.Context, m Message) (string, error) {
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	tree, err := quiet.snapshot(ctx, nil)
	if err != nil {
		return "", err
	}
	return quiet.record(ctx, tree, m)
}

// CommitSnapshot is CommitAll of the files as they were when Snapshot gave
// tree. What lies Beside is committed as it is now. No file is touched: what
// came later stays uncommitted.
func (t *Tree) CommitSnapshot(ctx context.Context, tree string, m Message) (string, error) {
	if err := checkSHA(tree); err != nil {
		return "", err
	}
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	if tree, err = quiet.complete(ctx, tree); err != nil {
		return "", err
	}
	return quiet.record(ctx, tree, m)
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
func (t tamed) record(ctx context.Context, tree string, m Message) (string, error) {
	head, err := t.Head(ctx)
	if err != nil {
		return "", err
	}
	if old, err := t.TreeID(ctx); err != nil || old == tree {
		return head, err
	}
	sha, err := t.commit(ctx, head, tree, m)
	if err != nil {
		return "", err
	}
	if err := t.unlock(ctx); err != nil {
		return "", err
	}
	if err := t.run(ctx, "reset", "-q", "--mixed", sha); err != nil {
		return "", fmt.Errorf("move to the new commit: %w", err)
	}
	return sha, nil
}

// snapshot is the working tree without some paths.
func (t tamed) snapshot(ctx context.Context, without []string) (string, error) {
	s, done := t.scratch()
	defer done()
	if err := s.copyIndex(ctx); err != nil {
		return "", fmt.Errorf("begin a snapshot: %w", err)
	}
	if err := s.drop(ctx, without); err != nil {
		return "", err
	}
	specs := append([]string{"."}, notOurs()...)
	for _, name := range without {
		specs = append(specs, ":(top,exclude,literal)"+name)
	}
	if err := s.add(ctx, specs); err != nil {
		return "", err
	}
	return s.write(ctx)
}

// complete is a snapshot with what lies beside in it.
func (t tamed) complete(ctx context.Context, tree string) (string, error) {
	s, done := t.scratch()
	defer done()
	if _, err := s.do(ctx, s.on("read-tree", tree)); err != nil {
		return "", fmt.Errorf("read the snapshot: %w", err)
	}
	if err := s.drop(ctx, t.beside()); err != nil {
		return "", err
	}
	for _, name := range t.beside() {
		if err := s.bring(ctx, name); err != nil {
			return "", fmt.Errorf("add %s: %w", name, err)
		}
	}
	return s.write(ctx)
}

// scratch is an index of the program's own.
type scratch struct {
	tamed
	index string
}

func (t tamed) scratch() (s scratch, done func()) {
	s = scratch{t, filepath.Join(t.lair().dir, "ralph-"+rand.Text()+".index")}
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
	if err := s.leaveOutRepositories(ctx); err != nil {
		return "", err
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
