package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/shell"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Own returns the user's repository as a tree, for an agent that works in the
// user's own files. Ralph commits there as the user, if git knows the user's name,
// and without files that the user ignores.
func (g Git) Own(ctx context.Context, at Place) (*Tree, error) {
	own, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Tree{Dir: at.Top, Author: own.settings.identity(), repository: own, needs: g.needsOf(at, own)}, nil
}

// RenewIndex makes a new index, of HEAD, in one of the git folders of the work tree at top.
func (g Git) RenewIndex(ctx context.Context, top, dir string) error {
	common, err := g.Common(ctx, g.Home, "GIT_DIR="+dir)
	if err != nil {
		return err
	}
	r := repository{git: g, top: top, dir: dir, common: common}
	if r.settings, err = g.settingsOf(ctx, dir); err == nil {
		r, err = r.linked(g.Home, r.settings.text(g.User))
	}
	if err != nil {
		return err
	}
	return r.write(ctx, "read-tree", "HEAD")
}

// Look returns the state of the tree.
func (t *Tree) Look(ctx context.Context) (TreeState, error) {
	s, err := t.inspectAnyway(ctx)
	if err != nil {
		return TreeState{}, err
	}
	return s.State(ctx)
}

// State returns the state of the tree.
func (s *Inspection) State(ctx context.Context) (TreeState, error) {
	work, err := s.Work(ctx)
	return TreeState{Head: s.Head, Tree: s.Tree, Work: work, Dirty: s.Dirty}, err
}

// TreeState is the state of a tree.
type TreeState struct {
	Head  string
	Tree  string // of Head
	Work  string // a tree of the working files, uncommitted work included
	Dirty bool
}

// Exclude makes git ignore patterns in the user's repository without changing a tracked file. Git is not
// asked where the file is: it follows links, which a command in the sandbox may have made.
func (g Git) Exclude(ctx context.Context, at Place, patterns ...string) error {
	own, err := g.at(ctx, at)
	if err != nil {
		return err
	}
	return guarded.AddLines(own.common, "info/exclude", patterns)
}

// CheckLinks refuses a link by which git would write outside of the git folders of a repository: in place of
// what git writes there, or below logs, refs and objects. Another command in the sandbox can put one there at any
// time, so this only keeps git from those that are there by now.
func (r repository) CheckLinks(ctx context.Context) error {
	return cmp.Or(guarded.CheckLinks(ctx, r.dir), guarded.CheckLinks(ctx, r.common))
}

// WhyDiverged returns why HEAD is not the work that began at start on branch:
// another branch is checked out, or the history was rewritten. It returns nothing
// if HEAD is this work. Last is a known descendant of start.
func (s *Inspection) WhyDiverged(ctx context.Context, branch, start, last string) (string, error) {
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

// PathCommit is a commit of some paths in the user's own tree.
type PathCommit struct {
	Paths   []string // files and folders, relative to the top
	Message Message
	Kept    []journal.KeptFile // stay out, as of a Tree
}

// Commit commits the files at some paths and returns the new commit, or HEAD if
// they have no changes that git does not ignore. Other changes stay out, staged
// ones too. No hook or filter runs, and the commit is not signed.
func (g Git) Commit(ctx context.Context, place Place, what PathCommit) (string, error) {
	tree, err := g.Own(ctx, place)
	if err == nil {
		tree.Kept = what.Kept
		err = tree.CheckLinks(ctx)
	}
	if err != nil {
		return "", err
	}
	sha, err := tree.commitPaths(ctx, what)
	if err != nil {
		return "", fmt.Errorf("commit in %s: %w", place.Top, err)
	}
	return sha, nil
}

// commitPaths uses a separate index, so that the user's staged changes stay out.
func (t *Tree) commitPaths(ctx context.Context, what PathCommit) (string, error) {
	out, err := t.Ask(ctx, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", err
	}
	head, old, _ := strings.Cut(out, "\n")
	on, done := t.scratch()
	defer done()
	if _, err := on.Do(ctx, on.indexCall("read-tree", "HEAD")); err != nil {
		return "", err
	}
	paths := literal(what.Paths)
	for _, path := range paths { // one by one: git refuses all if one is ignored
		if _, err := on.add(ctx, []string{path}); err != nil {
			return "", err
		}
	}
	tree, err := ObjectID(on.Do(ctx, on.indexCall("write-tree")))
	if err == nil {
		tree, _, err = t.leaveOutAt(ctx, old, tree, what.Paths)
	}
	if err != nil || tree == old {
		return head, err
	}
	sha, err := t.commit(ctx, head, tree, what.Message)
	if err != nil {
		return "", err
	}
	// Updates only these paths in the user's index, and no file. It comes first: if ralph is killed before HEAD moves, the
	// index does not have the commit's files as removed.
	if err := t.run(ctx, append([]string{"reset", "-q", sha, "--"}, paths...)...); err != nil {
		return "", err
	}
	// Fails if the branch has moved since HEAD was read.
	if err := t.run(ctx, "update-ref", "-m", "commit: "+OneLine(what.Message.Subject, 200), "HEAD", sha, head); err != nil {
		return "", errors.Join(err, t.run(ctx, append([]string{"reset", "-q", "--"}, paths...)...))
	}
	return sha, nil
}

func literal(paths []string) []string {
	var specs []string
	for _, path := range paths {
		specs = append(specs, ":(top,literal)"+path)
	}
	return specs
}

// PushesAll reports whether the user's git pushes all branches that the remote has, too.
func (t *Tree) PushesAll() bool { return t.settings["push.default"] == "matching" }

// Needs returns what git needs in the user's own tree. The agent can name other folders to read and write since it was opened.
func (t *Tree) Needs(ctx context.Context) guarded.Needs {
	return t.git.WithIncluded(ctx, t.needs.Within(t.common), t.Dir)
}

func (g Git) needsOf(place Place, at repository) guarded.Needs {
	n := guarded.Folder(place.Top)
	n.Read = append(slices.Clone(place.Alternates()), g.Home)
	for _, dir := range []string{at.common, at.dir} {
		if !process.Within(dir, append(n.Write, place.Top)) {
			n.Write = append(n.Write, dir)
		}
	}
	return n.With(at.common, at.dir)
}

// DirOutside returns a git or object folder of the tree outside of area, or nothing. Others may have
// written everything in area. A git folder that names the tree as its own is allowed. Without an area
// it is the tree, and other object folders are allowed.
func (t *Tree) DirOutside(ctx context.Context, area string) string {
	dir, common := t.dir, t.common
	outside := func(path string) bool { return !process.Under(cmp.Or(area, t.Dir), path) }
	if outside(dir) {
		text, _ := untrusted.ReadFile(filepath.Join(dir, "gitdir"), 1<<12)
		linked, _ := filepath.EvalSymlinks(guarded.Absolute(filepath.Dir(guarded.Line(text)), dir))
		named, _ := trimNewline(t.git.Do(ctx, Call{Args: []string{"config", "core.worktree"}, Dir: t.git.Home, Env: []string{"GIT_DIR=" + dir}}))
		named, _ = filepath.EvalSymlinks(guarded.Absolute(named, dir))
		switch {
		case linked != t.Dir && named != t.Dir:
			return dir
		case common != dir && filepath.Join(common, "worktrees") != filepath.Dir(dir): // a file in dir names it
			return common
		}
		return ""
	}
	for _, path := range append([]string{common}, t.needs.Read...) {
		if path != t.git.Home && outside(path) && (area != "" || path == common) {
			return path
		}
	}
	return ""
}

// WithIncluded adds the configurations of user and machine, and the files that these, the environment, the git folders
// and the repositories around dir include. It also adds what links in place of their configurations and hooks lead to.
func (g Git) WithIncluded(ctx context.Context, n guarded.Needs, dir string) guarded.Needs {
	listed, _ := g.includes(ctx, Call{Set: g.User.Set}) // an error means that it includes nothing
	listed = append(listed, "include.path\n"+strings.Join(g.User.files(), "\x00include.path\n")...)
	configs, hooks := guarded.ConfigsAround(dir)
	for _, guard := range n.Guarded {
		configs = append(configs, filepath.Join(guard.Dir, "config"), filepath.Join(guard.Dir, "config.worktree"))
	}
	ways, _ := guarded.Includes{Size: maxConfig, Files: maxIncluded, List: g.Includes(ctx)}.Of(listed, configs...) // or what was found of them
	return n.OnWay(guarded.Linked(append(hooks, configs...))).OnWay(ways)
}

// Common returns the common git folder of the repository around dir, or that env names. Commits cannot write there.
func (g Git) Common(ctx context.Context, dir string, env ...string) (string, error) {
	return trimNewline(g.Do(ctx, Call{Args: []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}, Dir: dir, Env: env, Memory: MaxMemory}))
}
