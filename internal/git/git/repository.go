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
	"HEAD", "info/attributes", "info/exclude", "logs", "objects",
	"packed-refs", "refs", "reftable", "shallow", "worktrees",
}

// linked makes a folder below home that leads to the repository's common folder and has other settings.
func (r repository) linked(home, settings string) (repository, error) {
	sum := sha256.Sum256([]byte(r.common + "\n" + settings))
	r.plain = filepath.Join(home, fmt.Sprintf("settings-%x", sum))
	if _, err := os.Lstat(r.plain); err == nil {
		return r, nil
	}
	temporary, err := os.MkdirTemp(home, "young-")
	if err != nil {
		return r, fmt.Errorf("keep settings for git: %w", err)
	}
	defer untrusted.RemoveAll(temporary) //nolint:errcheck // gone, if all went well
	if err := r.fillLinked(temporary, settings); err != nil {
		return r, fmt.Errorf("keep settings for git: %w", err)
	}
	err = os.Rename(temporary, r.plain)
	if err != nil && !errors.Is(err, fs.ErrExist) { // else it was made at the same time
		return r, fmt.Errorf("keep settings for git: %w", err)
	}
	return r, nil
}

func (r repository) fillLinked(dir, settings string) error {
	info := filepath.Join(dir, "info")
	if err := os.Mkdir(info, 0o755); err != nil {
		return err
	}
	if err := publish(filepath.Join(dir, "config"), settings, 0o644); err != nil {
		return err
	}
	for _, name := range shared {
		if err := os.Symlink(filepath.Join(r.common, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	// The agent's git reads both, under any umask.
	if err := os.Chmod(info, 0o755); err != nil { //nolint:gosec // see above
		return err
	}
	return os.Chmod(dir, 0o755) //nolint:gosec // see above
}

// Do runs git on this repository alone: a file in place of .git could lead to another one.
func (r repository) Do(ctx context.Context, c Call) ([]byte, error) {
	if info, err := os.Lstat(r.dir); err == nil && !info.IsDir() {
		return nil, &Error{Command: c.Args[0], Exit: 128, Said: ".git is not a folder"}
	}
	c.Dir = r.top
	c.Env = append([]string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}, c.Env...)
	c.asUser = r.plain == ""
	if !c.asUser {
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
		current, err := t.Ask(ctx, "symbolic-ref", "-q", "HEAD")
		if err != nil {
			return nil //nolint:nilerr // HEAD is detached: no branch is locked
		}
		ref = current
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
