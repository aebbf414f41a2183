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

// gitDir is a repository's git folder, and the common one, which differs in a linked worktree.
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
	c.Dir, c.Run, c.Memory = t.Dir, t.Run, MaxMemory
	c.Env = append([]string{"GIT_DIR=" + at, "GIT_WORK_TREE=" + t.Dir}, c.Env...)
	out, err := t.git.Do(ctx, c)
	if failed, is := Answered(err); is && failed.TimedOut {
		t.unblock(ctx)
	}
	return out, err
}

// unblock removes named pipes in the git folder and in place of .gitignore and the
// config. git opens them and waits, in every later call again. It never commits one.
func (t *Tree) unblock(ctx context.Context) {
	home := t.gitDir().common
	for _, dir := range []string{home, t.Dir} {
		_ = untrusted.Folder{Path: dir}.Walk(ctx, ".", func(e untrusted.Entry, err error) error { // best effort
			if err == nil && e.Info.Mode().Type() == fs.ModeNamedPipe && (dir == home || strings.HasPrefix(e.Name, ".git")) {
				_ = e.In.Remove(e.Name)
			}
			return nil
		})
	}
}

// Ask runs git in the tree and returns its output without the final newline.
func (t *Tree) Ask(ctx context.Context, args ...string) (string, error) {
	return trimNewline(t.Do(ctx, Call{Args: args}))
}

// quietTree is a tree in which git runs no filters and no configured hooks, and follows
// the user's own excludes. Calls that read or write files, an index or refs need it.
type quietTree struct {
	*Tree
	set []Setting
}

func (t *Tree) quietly(ctx context.Context) (quietTree, error) {
	set, err := withoutPrograms(ctx, t.Do)
	if err != nil {
		return quietTree{}, err
	}
	if t.ignore != "" {
		set = append(set, Setting{"core.excludesFile", t.ignore})
	}
	set = append(set, t.lineEndings...)
	return quietTree{t, set}, nil
}

// unlocked removes the locks that a killed git has left, and returns the quiet tree.
func (t *Tree) unlocked(ctx context.Context) (quietTree, error) {
	if err := t.unlock(ctx, ""); err != nil {
		return quietTree{}, err
	}
	return t.quietly(ctx)
}

// withoutPrograms returns settings that disable the filters of a repository's configuration, and its hooks:
// core.hooksPath does not, as they are in no folder (git 2.54).
func withoutPrograms(ctx context.Context, do Runner) (set []Setting, err error) {
	keys, err := do(ctx, Call{Args: []string{"config", "--list", "-z", "--name-only"}, Limit: 1 << 20})
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	seen := map[string]bool{}
	for key := range strings.SplitSeq(string(keys), "\x00") {
		name := key[:max(0, strings.LastIndex(key, "."))]
		switch {
		case seen[name]:
		case strings.HasPrefix(name, "filter."):
			set = append(set,
				Setting{name + ".clean", ""}, Setting{name + ".smudge", ""},
				Setting{name + ".process", ""}, Setting{name + ".required", "false"})
		case strings.HasPrefix(name, "hook."):
			set = append(set, Setting{name + ".enabled", "false"})
		}
		seen[name] = true
	}
	return set, nil
}

// DoQuietly runs git without the filters and hooks of the configuration there, which the user or an archive made.
func (g Git) DoQuietly(ctx context.Context, c Call) ([]byte, error) {
	set, err := withoutPrograms(ctx, func(ctx context.Context, list Call) ([]byte, error) {
		list.Dir, list.Env, list.Memory = c.Dir, c.Env, c.Memory
		return g.Do(ctx, list)
	})
	if err != nil {
		return nil, err
	}
	c.Set = append(c.Set, set...)
	return g.Do(ctx, c)
}

func (t quietTree) Do(ctx context.Context, c Call) ([]byte, error) {
	c.Set = append(c.Set, t.set...)
	return t.Tree.Do(ctx, c)
}

func (t quietTree) run(ctx context.Context, args ...string) error {
	_, err := t.Do(ctx, Call{Args: args})
	return err
}

// unlock removes the locks that a killed git has left, also of a branch. Call it while no agent works in the tree.
func (t *Tree) unlock(ctx context.Context, branch string) error {
	at := t.gitDir()
	if err := remove(at.dir, "index.lock", "HEAD.lock"); err != nil {
		return err
	}
	ref := BranchRef(branch)
	if branch == "" {
		var err error
		if ref, err = t.Ask(ctx, "symbolic-ref", "-q", "HEAD"); err != nil {
			return nil //nolint:nilerr // HEAD is detached: no branch is locked
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
