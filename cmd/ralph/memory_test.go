package main_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// memory returns a folder in memory, where make says that there is room for it:
// nearly all of what a test does to a disk is undone when it ends, and to make
// and remove thousands of small files costs more than the test. A sandbox has a
// /dev/shm of its own: what raises one works on the disk.
func memory(t *testing.T) string {
	t.Helper()
	own, err := os.MkdirTemp(os.Getenv("RALPH_TEST_MEMORY"), "ralph-test-") //nolint:usetesting // t.TempDir cannot be told where
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(own); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(own, "in") // some write beside where they work
	if err := errors.Join(os.Chmod(own, 0o711), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sorted returns the scripts that are to run: those that raise a sandbox,
// and the rest.
func sorted(t *testing.T) (sandboxed, rest []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(scripts, "*", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch raises := strings.Contains(string(text), "there is a sandbox on Linux"); {
		case raises && short.Has("wall "+filepath.Base(path)): // picks two quick ones; with other words some take ten times as long
			sandboxed = append(sandboxed, path)
		case !raises && short.Has(filepath.Base(path)):
			rest = append(rest, path)
		}
	}
	return sandboxed, rest
}
