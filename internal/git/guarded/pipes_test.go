//go:build !windows

package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// git opens a pipe by many names, behind links too, and would wait for ever for a program that
// writes to it. So what a command left is removed, and what was there before it stays.
func TestNewPipesAreRemoved(t *testing.T) {
	top := t.TempDir()
	look := guarded.Search{Top: top, Git: ".git", All: true}
	fifo := func(name string) {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"queue", ".tool/queue"} {
		fifo(name)
	}
	before := look.Look(t.Context())
	left := []string{"web/.git/HEAD", ".git/packed-refs", ".mailmap", "bare/refs/heads/main", "plain/heads/main"}
	for _, name := range left {
		fifo(name)
	}
	for name, to := range map[string]string{"web/.git/packed-refs": "../../queue", "web/.git/refs": "../../plain"} {
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	now := look.Look(t.Context())
	look.RemovePipes(now.Pipes.Since(before.Pipes))
	for _, name := range append(left, "web/.git/packed-refs") {
		if _, err := os.Lstat(filepath.Join(top, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	for _, name := range []string{"queue", ".tool/queue", "web/.git/refs"} {
		if _, err := os.Lstat(filepath.Join(top, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}
