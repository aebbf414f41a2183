package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// ours are the traces that ralph itself leaves in a project. They are nobody's
// work: they make no tree dirty and go into no commit.
var ours = []string{".ralph", ".ralph-active", ".ralph-out", ".ralph-worktree"}

// Place is where a user's repository stands.
type Place struct {
	Top    string
	Head   string
	Branch string
	Remote string   // origin, or the only one there is
	Dirty  []string // changed and new files, at most 100, without the ignored and ralph's own

	objects string
	shallow string
	format  string
	partial bool
}

// Inspect looks at the repository that dir lies in. It is a fault when no run
// can begin there; a dirty tree is not.
func (g Git) Inspect(ctx context.Context, dir string) (Place, error) {
	at := user{git: g, dir: dir}
	if err := at.check(ctx); err != nil {
		return Place{}, err
	}
	top, err := at.ask(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return Place{}, fmt.Errorf("inspect %s: %w", dir, err)
	}
	at.dir = top
	p := Place{Top: top}
	if p.Head, p.Branch, err = at.head(ctx); err != nil {
		return p, err
	}
	if err := at.describe(ctx, &p); err != nil {
		return p, fmt.Errorf("inspect %s: %w", top, err)
	}
	return p, nil
}

// Clean is a fault when the tree is dirty.
func (p Place) Clean() error {
	if len(p.Dirty) == 0 {
		return nil
	}
	names := strings.Join(p.Dirty[:min(3, len(p.Dirty))], ", ")
	if more := len(p.Dirty) - 3; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fault.Usage("uncommitted changes in "+p.Top+": "+names, "commit or stash them", nil)
}

// user is a repository that is looked for from dir, as its owner does.
type user struct {
	git Git
	dir string
}

func (u user) ask(ctx context.Context, args ...string) (string, error) {
	out, err := u.git.do(ctx, call{args: args, dir: u.dir})
	return strings.TrimSuffix(string(out), "\n"), err
}

// check says what keeps a run from dir at all.
func (u user) check(ctx context.Context) error {
	info, err := os.Stat(u.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no such folder: "+u.dir, "name another with -d", nil)
	case err != nil:
		return fmt.Errorf("inspect %s: %w", u.dir, err)
	case !info.IsDir():
		return fault.Usage("not a folder: "+u.dir, "name another with -d", nil)
	}
	if _, err := u.ask(ctx, "rev-parse", "--git-dir"); err != nil {
		if _, ok := answered(err); !ok {
			return fmt.Errorf("inspect %s: %w", u.dir, err)
		}
		return fault.Usage("not a git repository: "+u.dir, "run git init there, or name another folder with -d", nil)
	}
	if inside, err := u.ask(ctx, "rev-parse", "--is-inside-work-tree"); err != nil || inside != "true" {
		return fault.Usage("no work tree: "+u.dir+" is a bare repository or a .git folder", "name a checkout with -d", err)
	}
	return nil
}

// head is the commit and the branch that work begins at.
func (u user) head(ctx context.Context) (sha, branch string, err error) {
	sha, err = u.ask(ctx, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if _, ok := answered(err); ok {
		return "", "", fault.Usage("no commit yet in "+u.dir, `commit something first: git commit --allow-empty -m "begin"`, nil)
	}
	if err != nil {
		return "", "", err
	}
	branch, err = u.ask(ctx, "symbolic-ref", "-q", "--short", "HEAD")
	if no(err) {
		return sha, "", fault.Usage("no branch is checked out in "+u.dir, "check one out: git switch BRANCH", nil)
	}
	return sha, branch, err
}

// describe fills in what is good to know.
func (u user) describe(ctx context.Context, p *Place) error {
	remotes, err := u.ask(ctx, "remote")
	if err != nil {
		return err
	}
	p.Remote = defaultRemote(strings.Fields(remotes))
	if p.Dirty, err = u.dirty(ctx); err != nil {
		return err
	}
	out, err := u.ask(ctx, "rev-parse", "--path-format=absolute", "--show-object-format", "--git-path", "objects", "--git-path", "shallow")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) != 3 {
		return errors.Join(errors.New("its objects cannot be found"), err)
	}
	p.format, p.objects, p.shallow = lines[0], filepath.Clean(lines[1]), filepath.Clean(lines[2])
	partial, err := u.ask(ctx, "config", "--get", "extensions.partialClone")
	if err != nil && !no(err) {
		return err
	}
	p.partial = partial != ""
	return nil
}

func defaultRemote(names []string) string {
	for _, name := range names {
		if name == "origin" || len(names) == 1 {
			return name
		}
	}
	return ""
}

func (u user) dirty(ctx context.Context) ([]string, error) {
	c := call{args: statusArgs(), dir: u.dir, set: u.endings(ctx)}
	if ignore := u.ignore(ctx); ignore != "" {
		c.set = append(c.set, setting{"core.excludesFile", ignore})
	}
	out, err := u.git.do(ctx, c)
	paths := changedPaths(out)
	if failed, ok := answered(err); ok && failed.TooLong {
		err = nil // it is dirty: what more there is changes nothing
	}
	return paths[:min(100, len(paths))], err
}

func statusArgs() []string {
	args := []string{"status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--", "."}
	return append(args, notOurs()...)
}

// notOurs are the pathspecs that leave out what is ours.
func notOurs() []string {
	var specs []string
	for _, name := range ours {
		specs = append(specs, ":(top,exclude,literal)"+name)
	}
	return specs
}

// changedPaths reads git status -z: two letters, a space, the path.
func changedPaths(out []byte) []string {
	var paths []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > 3 {
			paths = append(paths, entry[3:])
		}
	}
	return paths
}
