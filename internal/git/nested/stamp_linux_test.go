package nested_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
	w := watched{T: t, top: top, git: watch(t, nil).git}
	w.again().want()
	w = w.again()
	for _, page := range mapped {
		page[0] = 'y'
	}
	w.want("web/.git/config", "web/.git/index")
}

// A change is seen in a file of any size, and no file without an end is read.
func TestLookReadsNoContent(t *testing.T) {
	top := t.TempDir()
	config, index := filepath.Join(top, "web", ".git", "config"), filepath.Join(top, "web", ".git", "index")
	err := os.MkdirAll(filepath.Dir(config), 0o755)
	for _, name := range []string{config, index} {
		err = errors.Join(err, os.WriteFile(name, []byte("x"), 0o644), os.Truncate(name, 1<<40))
	}
	if err != nil {
		t.Fatal(err)
	}
	w := watched{T: t, top: top, git: watch(t, nil).git}.again()
	for _, name := range []string{config, index} {
		rewrite(t, name)
	}
	w.want("web/.git/config", "web/.git/index")
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
