package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// tmpfs keeps no time of a change through a mapping of a page that was read before.
func TestChangesThroughMappingsAreSeen(t *testing.T) {
	top, err := os.MkdirTemp("/dev/shm", "") //nolint:usetesting // t.TempDir may lie on a disk
	if err != nil {
		top = t.TempDir()
	}
	defer os.RemoveAll(top)
	if err := os.MkdirAll(filepath.Join(top, "web", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	mapped := map[string][]byte{}
	for _, name := range []string{"HEAD", "config", "index"} {
		name = filepath.Join(top, "web", ".git", name)
		err := os.WriteFile(name, []byte("xx"), 0o644)
		file, failed := os.OpenFile(name, os.O_RDWR, 0)
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		mapped[name], err = syscall.Mmap(int(file.Fd()), 0, 2, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err = errors.Join(err, file.Close()); err != nil || mapped[name][0] != 'x' {
			t.Fatal(err)
		}
	}
	look := guarded.Search{Top: top, Git: ".git", All: true}
	before := look.Look(t.Context())
	now := look.Look(t.Context())
	if changed := slices.Concat(now.Since(before.Nested), now.Indexes.Since(before.Indexes)); len(changed) > 0 {
		t.Errorf("unchanged, but reported: %v", changed)
	}
	for _, page := range mapped {
		page[0] = 'y'
	}
	now = look.Look(t.Context())
	if changed := now.Since(before.Nested); !slices.Equal(changed, []string{"web/.git"}) {
		t.Errorf("repositories that changed: %v, want web", changed)
	}
	if changed := now.Indexes.Since(before.Indexes); !slices.Equal(changed, []string{"web/.git/index"}) {
		t.Errorf("indexes that changed: %v, want that of web", changed)
	}
}

// A change is seen in a file of any size, and no file without an end is read.
func TestLookReadsNoContent(t *testing.T) {
	top := t.TempDir()
	extra, index := filepath.Join(top, "web", ".git", "extra"), filepath.Join(top, "web", ".git", "index")
	err := errors.Join(os.MkdirAll(filepath.Dir(extra), 0o755), os.WriteFile(filepath.Join(filepath.Dir(extra), "HEAD"), nil, 0o644))
	for _, name := range []string{extra, index} {
		err = errors.Join(err, os.WriteFile(name, []byte("x"), 0o644), os.Truncate(name, 1<<40))
	}
	if err != nil {
		t.Fatal(err)
	}
	look := guarded.Search{Top: top, Git: ".git", All: true}
	before := look.Look(t.Context())
	for _, name := range []string{extra, index} {
		rewrite(t, name)
	}
	now := look.Look(t.Context())
	if changed := now.Since(before.Nested); !slices.Equal(changed, []string{"web/.git"}) {
		t.Errorf("repositories that changed: %v, want web", changed)
	}
	if changed := now.Indexes.Since(before.Indexes); !slices.Equal(changed, []string{"web/.git/index"}) {
		t.Errorf("indexes that changed: %v, want that of web", changed)
	}
}

// rewrite writes until the file's time of change is another: clocks of files are coarse.
func rewrite(t *testing.T, name string) {
	t.Helper()
	var was, is syscall.Stat_t
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for err = syscall.Stat(name, &was); err == nil && (is.Ino == 0 || is.Ctim == was.Ctim); {
		_, err = file.WriteAt([]byte("y"), 1<<39)
		err = errors.Join(err, syscall.Stat(name, &is))
	}
	if err != nil {
		t.Fatal(err)
	}
}
