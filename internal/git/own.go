package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/shell"
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
	like := u.userConfig(ctx, g.User.files())
	own := gitDir{filepath.Clean(dir), filepath.Clean(common)}
	return &Tree{
		Dir: at.Top, Author: like.who(), git: g,
		own: &own, needs: g.needsOf(ctx, at, own), ignore: like.ignore(g.User), endings: like.endings(),
	}, nil
}

// Look is the tree's state, as a hand-over would tell it.
func (t *Tree) Look(ctx context.Context) (Standing, error) {
	s, err := t.inspectAnyway(ctx)
	if err != nil {
		return Standing{}, err
	}
	return s.Standing(ctx)
}

// Standing is what Look gives.
func (s *Inspection) Standing(ctx context.Context) (Standing, error) {
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

// Exclude keeps patterns out of the user's commits without changing a tracked file.
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
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), untrusted.WriteFile(name, []byte(strings.TrimLeft(text, "\n")), 0o644)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Strayed is why what a tree stands at is not the work that began at start on
// branch; empty where it is. Somebody may have checked out another branch
// there, or written history anew. Last is a commit that is known to hold start.
func (s *Inspection) Strayed(ctx context.Context, branch, start, last string) (string, error) {
	if s.branch != branch {
		return fmt.Sprintf("%s is no longer checked out: git switch %s brings it back", branch, shell.Quote(branch)), nil
	}
	if s.Head == start || s.Head == last {
		return "", nil
	}
	_, err := s.tree.Ask(ctx, "merge-base", "--is-ancestor", start, s.Head)
	if _, ok := Answered(err); ok {
		return fmt.Sprintf("its history no longer holds %.12s, where the run began: git reflog %s has what was there", start, shell.Quote(branch)), nil
	}
	return "", err
}

// Commission is what to commit in a user's own tree.
type Commission struct {
	Paths   []string // files and folders, from the top
	Message Message
}

// Commit commits what stands at some paths and gives the new commit; HEAD when
// nothing differs there, or what does is ignored. Nothing else that is changed
// or staged gets in. No hook and no filter runs, and nothing is signed.
func (g Git) Commit(ctx context.Context, place Place, what Commission) (string, error) {
	tree, err := g.Own(ctx, place)
	if err != nil {
		return "", err
	}
	quiet, err := tree.disableFilters(ctx)
	if err != nil {
		return "", err
	}
	sha, err := quiet.commitPaths(ctx, what)
	if err != nil {
		return "", fmt.Errorf("commit in %s: %w", place.Top, err)
	}
	return sha, nil
}

// commitPaths uses an index of its own: what the user has staged stays out.
func (t filterless) commitPaths(ctx context.Context, what Commission) (string, error) {
	out, err := t.Ask(ctx, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", err
	}
	head, old, _ := strings.Cut(out, "\n")
	on, done := t.scratch()
	defer done()
	if _, err := on.Do(ctx, on.on("read-tree", "HEAD")); err != nil {
		return "", err
	}
	paths := literal(what.Paths)
	for _, path := range paths { // one that is ignored keeps git from adding the others
		if err := on.add(ctx, []string{path}); err != nil {
			return "", err
		}
	}
	tree, err := ObjectID(on.Do(ctx, on.on("write-tree")))
	if err != nil || tree == old {
		return head, err
	}
	sha, err := t.commit(ctx, head, tree, what.Message)
	if err != nil {
		return "", err
	}
	// The branch moves only from where it stood when we looked.
	if err := t.run(ctx, "update-ref", "-m", "commit: "+OneLine(what.Message.Subject, 200), "HEAD", sha, head); err != nil {
		return "", err
	}
	// Of the user's own index only these paths; the files are as they should be.
	return sha, t.run(ctx, append([]string{"reset", "-q", "--"}, paths...)...)
}

func literal(paths []string) []string {
	var specs []string
	for _, path := range paths {
		specs = append(specs, ":(top,literal)"+path)
	}
	return specs
}

// Needs of the user's own tree. What can be read and written is what it was when the
// tree was opened: those who work in it write to the files that say what git reads.
func (t *Tree) Needs() guarded.Needs { return t.needs.Within(t.own.common) }

func (g Git) needsOf(ctx context.Context, place Place, at gitDir) guarded.Needs {
	n := guarded.Folder(place.Top)
	if len(place.stores) > 1 { // the first is its own
		n.Read = slices.Clone(place.stores[1:])
	}
	n.Read = append(n.Read, g.Home)
	for _, dir := range []string{at.common, at.dir} {
		inside := func(folder string) bool { return process.Under(folder, dir) }
		if !slices.ContainsFunc(append(n.Write, place.Top), inside) {
			n.Write = append(n.Write, dir)
		}
	}
	return g.WithIncluded(ctx, n.With(at.common, at.dir).Within(at.common))
}

// LeadsOut is a git folder or object store of the tree outside of a folder, in which everything
// may be an agent's; empty: none. A git folder outside that names the tree itself is no such one.
func (t *Tree) LeadsOut(ctx context.Context, area string) string {
	outside := func(path string) bool { return !process.Under(area, path) }
	if outside(t.own.dir) {
		linked, _ := untrusted.ReadFile(filepath.Join(t.own.dir, "gitdir"), 1<<12)
		named, _ := t.git.Do(ctx, Call{Args: []string{"config", "--file", filepath.Join(t.own.dir, "config"), "core.worktree"}, Dir: t.git.Home})
		for _, to := range []string{filepath.Dir(strings.TrimSpace(string(linked))), strings.TrimSpace(string(named))} {
			if !filepath.IsAbs(to) {
				to = filepath.Join(t.own.dir, to)
			}
			if to, err := filepath.EvalSymlinks(to); err == nil && to == t.Dir {
				return ""
			}
		}
		return t.own.dir
	}
	for _, path := range append(slices.Clone(t.needs.Read), t.own.common) {
		if path != t.git.Home && outside(path) {
			return path
		}
	}
	return ""
}

// WithIncluded adds the files that the configurations of the git folders, of the user, of the
// environment and of the machine include.
func (g Git) WithIncluded(ctx context.Context, n guarded.Needs) guarded.Needs {
	configs := append(g.User.files(), cmp.Or(g.User.System, "/etc/gitconfig"))
	for _, guard := range n.Guarded {
		configs = append(configs, filepath.Join(guard.Dir, "config"), filepath.Join(guard.Dir, "config.worktree"))
	}
	listed, _ := g.includes(ctx, Call{Set: g.User.Set}) // an error: it includes nothing
	n.ReadOnly = append(slices.Clip(n.ReadOnly), guarded.Included(listed, configs, mostConfig, g.Includes(ctx))...)
	return n
}

// Common is git's own folder for the repository at a folder: no commit writes there.
func (g Git) Common(ctx context.Context, top string) (string, error) {
	return user{git: g, dir: top}.Ask(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
}
