//go:build !windows

package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// git opens these files, and would wait for ever for a program that writes to the pipe.
func TestLookRemovesPipesThatGitOpens(t *testing.T) {
	top := t.TempDir()
	for name, want := range map[string]bool{
		"web/.git/HEAD": true, "web/.git/refs/heads/main": true, ".git/packed-refs": true, ".gitignore": true, ".mailmap": true, "web/.lfsconfig": true, "web/.gitattributes": true, "bare/HEAD": true,
		"store/packed-refs": true, "store/refs/heads/main": true, "link/.git/packed-refs": true, "refs/heads/main": false, "pipe": false, "web/queue": false,
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		fifo := path
		switch strings.Split(name, "/")[0] {
		case "link":
			fifo = filepath.Join(top, "queue")
			if err := os.Symlink("../../queue", path); err != nil {
				t.Fatal(err)
			}
		case "store": // to which a .git file leads
			if err := errors.Join(os.MkdirAll(filepath.Join(top, "store", "objects"), 0o755), os.MkdirAll(filepath.Join(top, "store", "refs"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		guarded.Search{Top: top, Git: ".git", All: true}.Look(t.Context())
		if _, err := os.Lstat(path); os.IsNotExist(err) != want {
			t.Errorf("%s is removed: %v, want %v", name, os.IsNotExist(err), want)
		}
	}
}
