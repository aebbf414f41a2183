package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// do runs git inside, on this tree and no other.
func (t *Tree) do(ctx context.Context, c call) ([]byte, error) {
	c.dir, c.run = t.Dir, t.Run
	c.env = append([]string{"GIT_DIR=" + filepath.Join(t.Dir, ".git"), "GIT_WORK_TREE=" + t.Dir}, c.env...)
	return t.git.do(ctx, c)
}

func (t *Tree) ask(ctx context.Context, args ...string) (string, error) {
	out, err := t.do(ctx, call{args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// tamed is a tree whose configured filters do not run. Attributes in the tree
// would have git start them whenever it reads or writes a file; a call that
// does goes through here.
type tamed struct {
	*Tree
	set []setting
}

func (t *Tree) tame(ctx context.Context) (tamed, error) {
	out, err := t.do(ctx, call{args: []string{"config", "--list", "-z", "--name-only"}, limit: 1 << 20})
	if err != nil {
		return tamed{}, fmt.Errorf("read the tree's configuration: %w", err)
	}
	return tamed{t, withoutFilters(string(out))}, nil
}

// withoutFilters empties the filters among the keys of a configuration.
func withoutFilters(keys string) []setting {
	var set []setting
	seen := map[string]bool{}
	for key := range strings.SplitSeq(keys, "\x00") {
		end := strings.LastIndex(key, ".")
		if end < 0 || !strings.HasPrefix(key, "filter.") || seen[key[:end]] {
			continue
		}
		driver := key[:end]
		seen[driver] = true
		set = append(set,
			setting{driver + ".clean", ""}, setting{driver + ".smudge", ""},
			setting{driver + ".process", ""}, setting{driver + ".required", "false"})
	}
	return set
}

func (t tamed) do(ctx context.Context, c call) ([]byte, error) {
	c.set = append(c.set, t.set...)
	return t.Tree.do(ctx, c)
}

func (t tamed) run(ctx context.Context, args ...string) error {
	_, err := t.do(ctx, call{args: args})
	return err
}

// unlock removes the locks of a git that was killed. Nobody works in the tree
// while the program does.
func (t *Tree) unlock(ctx context.Context) error {
	locks := []string{"index.lock", "HEAD.lock"}
	if ref, err := t.ask(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
		locks = append(locks, ref+".lock")
	}
	inside, err := os.OpenRoot(filepath.Join(t.Dir, ".git")) // no link leads out of it
	if err != nil {
		return fmt.Errorf("remove stale locks: %w", err)
	}
	defer inside.Close() //nolint:errcheck // nothing was written through it
	for _, lock := range locks {
		if err := inside.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a stale lock: %w", err)
		}
	}
	return nil
}
