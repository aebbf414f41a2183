package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
)

// ours are ralph's own files in a project. They are never committed, and do not make a tree dirty.
var ours = []string{".ralph", ".ralph-active", ".ralph-out", ".ralph-worktree"}

// Ours reports whether a path is one of ralph's own files.
func Ours(path string) bool { return entry{path: path}.isWithin(ours) }

// Place is the state of a user's repository.
type Place struct {
	Top    string
	Head   string
	Branch string
	Remote string   // origin, or the only remote
	Dirty  []string // at most 100 changed and new files, without ignored ones and ralph's own

	stores  []string // object folders: its own, and its alternates
	shallow string   // the file that lists where the history is cut
	format  string   // of object names
	partial bool     // a partial clone
}

// Inspect returns the state of the repository around dir, or a fault if no run can begin there. A dirty tree is no
// fault.
func (g Git) Inspect(ctx context.Context, dir string) (Place, error) {
	at := userRepo{git: g, dir: dir}
	top, err := at.top(ctx)
	if err != nil {
		return Place{}, err
	}
	at.dir = top
	p := Place{Top: top}
	if err := at.readHead(ctx, &p); err != nil {
		return p, err
	}
	if err := at.describe(ctx, &p); err != nil {
		return p, fmt.Errorf("inspect %s: %w", top, err)
	}
	return p, nil
}

// Clean returns a fault if the tree is dirty.
func (p Place) Clean() error {
	if len(p.Dirty) == 0 {
		return nil
	}
	return fault.Usage("uncommitted changes in "+p.Top+": "+journal.ShortList(p.Dirty), "commit or stash them", nil)
}

// userRepo runs git in a folder of the user's repository.
type userRepo struct {
	git Git
	dir string
}

func (u userRepo) Ask(ctx context.Context, args ...string) (string, error) {
	out, err := u.Do(ctx, Call{Args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// write runs git where it writes refs or files.
func (u userRepo) write(ctx context.Context, args ...string) error {
	_, err := u.git.DoQuietly(ctx, Call{Args: args, Dir: u.dir, Memory: MaxMemory, Timeout: networkTimeout})
	return err
}

func (u userRepo) Do(ctx context.Context, c Call) ([]byte, error) {
	c.Dir, c.Memory = u.dir, MaxMemory // HEAD may be an agent's commit
	return u.git.Do(ctx, c)
}

// top returns the top of the work tree, or why a run cannot work there.
func (u userRepo) top(ctx context.Context) (string, error) {
	info, err := os.Stat(u.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.Usage("no such folder: "+u.dir, "name another with -d", nil)
	case err != nil:
		return "", fmt.Errorf("inspect %s: %w", u.dir, err)
	case !info.IsDir():
		return "", fault.Usage("not a folder: "+u.dir, "name another with -d", nil)
	}
	// Without a work tree, git prints the first answer and fails at the second.
	out, err := u.Ask(ctx, "rev-parse", "--is-inside-work-tree", "--show-toplevel")
	inside, top, _ := strings.Cut(out, "\n")
	switch answer, ok := Answered(err); {
	case err != nil && !ok:
		return "", fmt.Errorf("inspect %s: %w", u.dir, err)
	case inside == "" && err != nil:
		return "", u.noRepository(answer)
	case inside != "true":
		return "", fault.Usage("no work tree: "+u.dir+" is a bare repository or a .git folder", "name a checkout with -d", nil)
	case err != nil:
		return "", fmt.Errorf("inspect %s: %w", u.dir, err)
	case strings.Contains(top, "\n"): // git's own files hold a path per line
		return "", fault.Usage(fmt.Sprintf("the path of the repository has a line end in it: %q", top), "give the folder another name", nil)
	}
	return top, u.checkTop(top)
}

// Unreadable is the error for a repository that git cannot read.
type Unreadable struct{ Said string }

// Error returns git's message.
func (e *Unreadable) Error() string { return e.Said }

// noRepository returns an error for a folder without a repository, or with one that git cannot read.
func (u userRepo) noRepository(answer *Error) error {
	dir, err := filepath.Abs(u.dir)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u.dir, err)
	}
	at := guarded.Around(dir)
	beyond := at != dir && strings.Contains(answer.Said, "mount point") // git does not search beyond it
	if strings.Contains(answer.Said, "not a git repository") && (beyond || !guarded.Begun(filepath.Join(at, ".git"))) {
		return fault.Usage("not a git repository: "+u.dir, "run git init there, or name another folder with -d", nil)
	}
	return unreadable(at, cmp.Or(strings.TrimPrefix(answer.Said, "fatal: "), answer.Error()), "fix the repository: git status there shows the same error")
}

func unreadable(at, said, fix string) error {
	return fault.Usage("git cannot read the repository in "+at, fix, &Unreadable{said})
}

// checkTop refuses a repository further up, which git finds if a nearer .git is invalid.
func (u userRepo) checkTop(top string) error {
	dir, err := filepath.EvalSymlinks(u.dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u.dir, err)
	}
	at := guarded.Around(dir)
	if way, err := filepath.Rel(top, at); err == nil && way != "." && filepath.IsLocal(way) {
		return unreadable(at, "it ignores "+filepath.Join(at, ".git"), "fix or remove it")
	}
	return nil
}

func (u userRepo) readHead(ctx context.Context, p *Place) error {
	s, at, err := u.readStatus(ctx)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u.dir, err)
	}
	if CheckSHA(at) != nil {
		return u.noCommit()
	}
	if p.Head = at; s.branch == "" {
		return fault.Usage("no branch is checked out in "+u.dir, "check one out: git switch BRANCH", nil)
	}
	p.Branch = s.branch
	p.Dirty = s.paths()
	p.Dirty = p.Dirty[:min(100, len(p.Dirty))]
	return nil
}

func (u userRepo) noCommit() error {
	return fault.Usage("no commit yet in "+u.dir, `commit something first: git commit --allow-empty -m "begin"`, nil)
}

func (u userRepo) describe(ctx context.Context, p *Place) error {
	remotes, err := u.Ask(ctx, "remote")
	if err != nil {
		return err
	}
	p.Remote = defaultRemote(strings.Fields(remotes))
	out, err := u.Ask(ctx, "rev-parse", "--path-format=absolute", "--show-object-format", "--git-path", "objects", "--git-path", "shallow")
	lines := strings.Split(out, "\n")
	if err != nil || len(lines) != 3 {
		return errors.Join(errors.New("its objects cannot be found"), err)
	}
	objects := filepath.Clean(lines[1])
	p.format, p.stores, p.shallow = lines[0], append([]string{objects}, alternates(objects)...), filepath.Clean(lines[2])
	if refs, _ := u.Ask(ctx, "config", "extensions.refStorage"); strings.Contains(refs, "://") { // git 2.54; it would write there
		return unreadable(p.Top, "its refs are elsewhere: "+OneLine(refs, 200), "an archive may have made it so; use a clone: git clone")
	}
	partial, err := u.Ask(ctx, "config", "--get", "extensions.partialClone")
	if err != nil && !SaidNo(err) {
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

func (u userRepo) readStatus(ctx context.Context) (s *Inspection, at string, err error) {
	set, err := withoutPrograms(ctx, u.Do)
	if err != nil {
		return nil, "", err
	}
	config := u.userConfig(ctx, u.git.User.files())
	set = append(set, config.lineEndings()...)
	if ignore := config.ignore(u.git.User); ignore != "" {
		set = append(set, Setting{"core.excludesFile", ignore})
	}
	return readStatus(ctx, func(ctx context.Context, c Call) ([]byte, error) {
		c.Set = append(c.Set, set...)
		return u.Do(ctx, c)
	})
}

func excludeOurs() []string {
	var specs []string
	for _, name := range ours {
		specs = append(specs, ":(top,exclude,literal)"+name)
	}
	return specs
}

// Origin returns the URL of the remote origin, or nothing.
func (g Git) Origin(ctx context.Context, dir string) (string, error) {
	u := userRepo{git: g, dir: dir}
	if _, err := u.top(ctx); err != nil {
		return "", err
	}
	address, err := u.Ask(ctx, "config", "--get", "remote.origin.url")
	if SaidNo(err) {
		return "", nil
	}
	return address, err
}

// Tracks reports whether a path, or something below it, is tracked.
func (g Git) Tracks(ctx context.Context, path string) (bool, error) {
	out, err := userRepo{git: g, dir: filepath.Dir(path)}.Ask(ctx, "ls-files", "-z", "--", ":(literal)"+filepath.Base(path))
	if failed, is := Answered(err); is && (out != "" || strings.Contains(failed.Said, "not a git repository")) {
		err = nil
	}
	return out != "", err
}

// Named returns the commit that a user calls rev, or a fault.
func (g Git) Named(ctx context.Context, dir, rev string) (string, error) {
	u := userRepo{git: g, dir: dir}
	if _, err := u.top(ctx); err != nil {
		return "", err
	}
	sha, err := u.Ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	_, none := Answered(err)
	switch {
	case none && rev == "HEAD":
		return "", u.noCommit()
	case none:
		return "", fault.Usage("there is no commit "+OneLine(rev, 80), "name one that git log shows", nil)
	case err != nil:
		return "", err
	}
	return sha, CheckSHA(sha)
}
