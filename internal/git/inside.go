package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// gitDir is where a repository lies. In a linked worktree, the common files lie elsewhere.
type gitDir struct{ dir, common string }

func (t *Tree) gitDir() gitDir {
	if t.own != nil {
		return *t.own
	}
	dir := filepath.Join(t.Dir, ".git")
	return gitDir{dir, dir}
}

// Do runs git on this tree alone: a file in place of .git could lead to another repository.
func (t *Tree) Do(ctx context.Context, c Call) ([]byte, error) {
	at := t.gitDir().dir
	if info, err := os.Lstat(at); err == nil && !info.IsDir() {
		return nil, &Error{Command: c.Args[0], Exit: 128, Said: ".git is not a folder"}
	}
	c.Dir, c.Run, c.Memory = t.Dir, t.Run, mostInTree
	c.Env = append([]string{"GIT_DIR=" + at, "GIT_WORK_TREE=" + t.Dir}, c.Env...)
	out, err := t.git.Do(ctx, c)
	if failed, is := Answered(err); is && failed.TimedOut {
		t.unblock(ctx)
	}
	return out, err
}

// unblock removes the pipes that git opens as its own files or as .gitignore and
// the like, and waits for. They are no work, as git commits none, and every later
// call would wait as long.
func (t *Tree) unblock(ctx context.Context) {
	home := t.gitDir().common
	for _, dir := range []string{home, t.Dir} {
		_ = untrusted.Folder{Path: dir}.Walk(ctx, ".", func(e untrusted.Entry, err error) error { // what it does not find, git waits for again
			if err == nil && e.Info.Mode().Type() == fs.ModeNamedPipe && (dir == home || strings.HasPrefix(e.Name, ".git")) {
				_ = e.In.Remove(e.Name)
			}
			return nil
		})
	}
}

// Ask is what git prints inside, without the end of its line.
func (t *Tree) Ask(ctx context.Context, args ...string) (string, error) {
	return printed(t.Do(ctx, Call{Args: args}))
}

// filterless is a tree whose configured filters do not run, and where the user's own
// excludes hold. Attributes in the tree would have git start filters whenever it
// reads or writes a file; a call that does goes through here.
type filterless struct {
	*Tree
	set []Setting
}

func (t *Tree) disableFilters(ctx context.Context) (filterless, error) {
	set, err := withoutFilters(ctx, t.Do)
	if err != nil {
		return filterless{}, err
	}
	if t.ignore != "" {
		set = append(set, Setting{"core.excludesFile", t.ignore})
	}
	set = append(set, t.endings...)
	return filterless{t, set}, nil
}

// movable is the tree without filters, ready to move all that a killed git has left.
func (t *Tree) movable(ctx context.Context) (filterless, error) {
	if err := t.unlock(ctx, ""); err != nil {
		return filterless{}, err
	}
	return t.disableFilters(ctx)
}

// withoutFilters are settings by which no filter runs that a repository's configuration names.
func withoutFilters(ctx context.Context, do Runner) (set []Setting, err error) {
	keys, err := do(ctx, Call{Args: []string{"config", "--list", "-z", "--name-only"}, Limit: 1 << 20})
	if err != nil {
		return nil, fmt.Errorf("read the tree's configuration: %w", err)
	}
	seen := map[string]bool{}
	for key := range strings.SplitSeq(string(keys), "\x00") {
		end := strings.LastIndex(key, ".")
		if end < 0 || !strings.HasPrefix(key, "filter.") || seen[key[:end]] {
			continue
		}
		driver := key[:end]
		seen[driver] = true
		set = append(set,
			Setting{driver + ".clean", ""}, Setting{driver + ".smudge", ""},
			Setting{driver + ".process", ""}, Setting{driver + ".required", "false"})
	}
	return set, nil
}

func (t filterless) Do(ctx context.Context, c Call) ([]byte, error) {
	c.Set = append(c.Set, t.set...)
	return t.Tree.Do(ctx, c)
}

func (t filterless) run(ctx context.Context, args ...string) error {
	_, err := t.Do(ctx, Call{Args: args})
	return err
}

// unlock removes the locks of a git that was killed, of a branch too: no one else works in the tree now.
func (t *Tree) unlock(ctx context.Context, branch string) error {
	at := t.gitDir()
	if err := remove(at.dir, "index.lock", "HEAD.lock"); err != nil {
		return err
	}
	ref := BranchRef(branch)
	if branch == "" {
		var err error
		if ref, err = t.Ask(ctx, "symbolic-ref", "-q", "HEAD"); err != nil {
			return nil //nolint:nilerr // without a branch there is no lock of one
		}
	}
	return remove(at.common, ref+".lock")
}

func remove(dir string, locks ...string) error {
	for _, lock := range locks {
		if err := (untrusted.Folder{Path: dir}).Remove(lock); err != nil {
			return fmt.Errorf("remove a stale lock: %w", err)
		}
	}
	return nil
}
