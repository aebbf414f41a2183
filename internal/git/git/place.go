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

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/lib/fault"
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

	repository
}

// Inspect returns the state of the repository around dir, or a fault if no run can begin there. A dirty tree is no
// fault.
func (g Git) Inspect(ctx context.Context, dir string) (Place, error) {
	r, err := g.open(ctx, dir)
	if err != nil {
		return Place{}, err
	}
	p := r.place()
	return p, p.readHead(ctx)
}

func (r repository) place() Place {
	return Place{
		Top:        r.top,
		Remote:     defaultRemote(r.settings.remotes()),
		repository: r,
	}
}

// AtRest returns a fault if git waits for the end of a merge, rebase, cherry-pick or revert: a commit would end it.
func (r repository) AtRest() error {
	if r.dir == "" {
		return nil
	}
	for _, name := range []string{
		"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer", "rebase-merge", "rebase-apply",
	} {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
			return fault.Usage("git has not ended what it began in "+r.top+": "+name,
				"git status says how to end it", nil)
		}
	}
	return nil
}

// Clean returns a fault if the tree is dirty or not at rest.
func (p Place) Clean() error {
	if len(p.Dirty) == 0 {
		return p.AtRest()
	}
	return fault.Usage("uncommitted changes in "+p.Top+": "+journal.ShortList(p.Dirty), "commit or stash them", nil)
}

// Without returns the place as it is without changes of some files and folders.
func (p Place) Without(names ...string) Place {
	p.Dirty = slices.DeleteFunc(slices.Clone(p.Dirty), func(path string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(path+"/", name+"/") })
	})
	return p
}

// at returns the repository of a place, which Inspect found or Top names.
func (g Git) at(ctx context.Context, p Place) (repository, error) {
	if p.dir == "" {
		return g.open(ctx, p.Top)
	}
	p.git = g
	return p.repository, nil
}

// open returns the repository around dir, or why a run cannot work there.
func (g Git) open(ctx context.Context, dir string) (repository, error) {
	r, err := g.find(ctx, dir)
	if err != nil {
		return r, err
	}
	r.settings, err = r.readSettings(ctx)
	if answer, ok := Answered(err); ok {
		return r, unreadable(r.top, answer.Said, "fix the settings: git status there shows the same error")
	}
	return r, err
}

// find asks git, in the user's repository, where it is.
func (g Git) find(ctx context.Context, dir string) (repository, error) {
	r := repository{git: g}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, fault.Usage("no such folder: "+dir, "name another with -d", nil)
	case err != nil:
		return r, fmt.Errorf("inspect %s: %w", dir, err)
	case !info.IsDir():
		return r, fault.Usage("not a folder: "+dir, "name another with -d", nil)
	}
	// Without a work tree, git prints the first answer and fails at the second.
	out, err := trimNewline(g.Do(ctx, Call{
		Dir: dir,
		Args: []string{
			"rev-parse", "--is-inside-work-tree", "--path-format=absolute",
			"--show-toplevel", "--absolute-git-dir", "--git-common-dir",
		},
		Memory: MaxMemory,
	}))
	answer, ok := Answered(err)
	if err != nil && !ok {
		return r, fmt.Errorf("inspect %s: %w", dir, err)
	}
	if err != nil && out == "" {
		return r, noRepository(dir, answer)
	}
	found := strings.Split(out, "\n")
	if found[0] != "true" {
		return r, fault.Usage("no work tree: "+dir, "name a checkout with -d",
			&Unreadable{"it is a bare repository or a .git folder"})
	}
	if err != nil {
		return r, fmt.Errorf("inspect %s: %w", dir, err)
	}
	if len(found) != 4 { // git's own files hold a path per line
		return r, fault.Usage(fmt.Sprintf("the path of the repository has a line end in it: %q", dir),
			"give the folder another name", nil)
	}
	r.top = found[1]
	r.dir = filepath.Clean(found[2])
	r.common = filepath.Clean(found[3])
	return r, nil
}

// Unreadable is the error for a repository that git cannot read, or that has no work tree.
type Unreadable struct{ Said string }

// Error returns git's message.
func (e *Unreadable) Error() string { return e.Said }

// noRepository returns an error for a folder without a repository, or with one that git cannot read.
func noRepository(named string, answer *Error) error {
	dir, err := filepath.Abs(named)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", named, err)
	}
	at := guarded.Around(dir)
	_, missing := os.Lstat(filepath.Join(at, ".git"))
	if missing != nil && strings.Contains(answer.Said, "not a git repository") {
		return fault.Usage("not a git repository: "+named, "run git init there, or name another folder with -d", nil)
	}
	return unreadable(at, cmp.Or(strings.TrimPrefix(answer.Said, "fatal: "), answer.Error()),
		"fix the repository: git status there shows the same error")
}

func unreadable(at, reason, fix string) error {
	return fault.Usage("git cannot read the repository in "+at, fix, &Unreadable{reason})
}

func (p *Place) readHead(ctx context.Context) error {
	s, at, err := readStatus(ctx, p.Do)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", p.Top, err)
	}
	if CheckSHA(at) != nil {
		return noCommit(p.Top)
	}
	p.Head = at
	if s.branch == "" {
		return fault.Usage("no branch is checked out in "+p.Top, "check one out: git switch BRANCH", nil)
	}
	p.Branch = s.branch
	p.Dirty = s.paths()
	p.Dirty = p.Dirty[:min(100, len(p.Dirty))]
	return nil
}

func noCommit(dir string) error {
	return fault.Usage("no commit yet in "+dir, `commit something first: git commit --allow-empty -m "begin"`, nil)
}

func defaultRemote(names []string) string {
	for _, name := range names {
		if name == "origin" || len(names) == 1 {
			return name
		}
	}
	return ""
}

// Origin returns the URL of the remote origin, or nothing.
func (g Git) Origin(ctx context.Context, dir string) (string, error) {
	r, err := g.open(ctx, dir)
	return r.settings["remote.origin.url"], err
}

// Tracks reports whether a path, or something below it, is tracked. No bare repository is asked: a commit can hold one.
func (g Git) Tracks(ctx context.Context, path string) (bool, error) {
	out, err := g.Do(ctx, Call{
		Dir:    filepath.Dir(path),
		Args:   []string{"ls-files", "-z", "--", ":(literal)" + filepath.Base(path)},
		Set:    []Setting{{"safe.bareRepository", "explicit"}},
		Memory: MaxMemory,
	})
	isTracked := len(out) > 0
	failed, ok := Answered(err)
	if !ok {
		return isTracked, err
	}
	if isTracked || strings.Contains(failed.Said, "not a git repository") {
		return isTracked, nil
	}
	return isTracked, err
}

// Ignored returns the files and folders in dir that git ignores and does not track. A folder's name ends with a slash.
func (g Git) Ignored(ctx context.Context, dir string) ([]string, error) {
	r, err := g.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(r.top, resolved)
	if err != nil {
		return nil, err
	}
	names, err := listFiles(ctx, r.Do, append(slices.Clone(ignored), "--", ":(literal)"+below))
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, below+"/")
	}
	return names, err
}

// Named returns the commit that a user calls rev, or a fault.
func (g Git) Named(ctx context.Context, dir, rev string) (string, error) {
	r, err := g.open(ctx, dir)
	if err != nil {
		return "", err
	}
	sha, err := r.Ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	_, none := Answered(err)
	switch {
	case none && rev == "HEAD":
		return "", noCommit(r.top)
	case none:
		return "", fault.Usage("there is no commit "+OneLine(rev, 80), "name one that git log shows", nil)
	case err != nil:
		return "", err
	}
	return sha, CheckSHA(sha)
}
