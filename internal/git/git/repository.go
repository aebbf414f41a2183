package git

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// repository is the user's, or an agent's clone. In a clone git does not read the settings, and so starts nothing that
// they name: its common folder is one of ralph's own, with plain settings and links to the refs and objects.
type repository struct {
	git         Git
	top         string       // of the work tree
	dir, common string       // its git folders: two in a linked worktree
	plain       string       // GIT_COMMON_DIR of a clone; empty: the repository is the user's
	settings    userSettings // of the user's
}

// shared are the names in a common folder that git needs, besides its settings.
var shared = []string{
	"HEAD", "info/attributes", "info/exclude", "logs", "objects", "packed-refs", "refs", "reftable", "shallow", "worktrees",
}

// linked makes a folder below home that leads to the repository's common folder and has other settings.
func (r repository) linked(home, settings string) (repository, error) {
	r.plain = filepath.Join(home, fmt.Sprintf("settings-%x", sha256.Sum256([]byte(r.common+"\n"+settings))))
	if _, err := os.Lstat(r.plain); err == nil {
		return r, nil
	}
	young, err := os.MkdirTemp(home, "young-")
	if err != nil {
		return r, fmt.Errorf("keep settings for git: %w", err)
	}
	defer untrusted.RemoveAll(young) //nolint:errcheck // gone, if all went well
	info := filepath.Join(young, "info")
	err = errors.Join(os.Mkdir(info, 0o755), publish(filepath.Join(young, "config"), settings, 0o644))
	for _, name := range shared {
		err = errors.Join(err, os.Symlink(filepath.Join(r.common, name), filepath.Join(young, name)))
	}
	for _, dir := range []string{info, young} {
		err = errors.Join(err, os.Chmod(dir, 0o755)) //nolint:gosec // the agent's git reads it, under any umask
	}
	if err == nil {
		err = os.Rename(young, r.plain)
	}
	if errors.Is(err, fs.ErrExist) { // made at the same time
		err = nil
	}
	if err != nil {
		return r, fmt.Errorf("keep settings for git: %w", err)
	}
	return r, nil
}

// Do runs git on this repository alone: a file in place of .git could lead to another one.
func (r repository) Do(ctx context.Context, c Call) ([]byte, error) {
	if info, err := os.Lstat(r.dir); err == nil && !info.IsDir() {
		return nil, &Error{Command: c.Args[0], Exit: 128, Said: ".git is not a folder"}
	}
	c.Dir = r.top
	c.Env = append([]string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}, c.Env...)
	if c.asUser = r.plain == ""; !c.asUser {
		c.Env = append(c.Env, "GIT_COMMON_DIR="+r.plain)
		c.Memory = MaxMemory
	}
	return r.git.Do(ctx, c)
}

// Common returns the common git folder.
func (p Place) Common() string { return p.common }

// Ask runs git and returns its output without the final newline.
func (r repository) Ask(ctx context.Context, args ...string) (string, error) {
	return trimNewline(r.Do(ctx, Call{Args: args}))
}

// write runs a git that may take long.
func (r repository) write(ctx context.Context, args ...string) error {
	_, err := r.Do(ctx, Call{Args: args, Timeout: networkTimeout})
	return err
}

// Do runs git on the tree's repository.
func (t *Tree) Do(ctx context.Context, c Call) ([]byte, error) {
	c.Run = t.Run
	return t.repository.Do(ctx, c)
}

// Ask runs git in the tree and returns its output without the final newline.
func (t *Tree) Ask(ctx context.Context, args ...string) (string, error) {
	return trimNewline(t.Do(ctx, Call{Args: args}))
}

func (t *Tree) run(ctx context.Context, args ...string) error {
	_, err := t.Do(ctx, Call{Args: args})
	return err
}

// unlock removes the locks that a killed git has left, also of a branch; empty: the current one. Call it while no
// agent works in the tree.
func (t *Tree) unlock(ctx context.Context, branch string) error {
	if err := remove(t.dir, "index.lock", "HEAD.lock"); err != nil {
		return err
	}
	ref := BranchRef(branch)
	if branch == "" {
		var err error
		if ref, err = t.Ask(ctx, "symbolic-ref", "-q", "HEAD"); err != nil {
			return nil //nolint:nilerr // HEAD is detached: no branch is locked
		}
	}
	return remove(t.common, ref+".lock")
}

func remove(dir string, locks ...string) error {
	for _, lock := range locks {
		if err := (untrusted.Folder{Path: dir}).Remove(lock); err != nil {
			return fmt.Errorf("remove a stale lock: %w", err)
		}
	}
	return nil
}
