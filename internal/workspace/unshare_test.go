package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// After Unshare, writing to a file of the project changes no file elsewhere. Links
// within the project stay, and a copy has the mode and time of its file.
func TestUnshare(t *testing.T) {
	dir := t.TempDir()
	store, project, state := filepath.Join(dir, "store"), filepath.Join(dir, "project"), filepath.Join(dir, "state")
	for _, dir := range []string{store, filepath.Join(project, "a", "b"), state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, mode := range map[string]os.FileMode{filepath.Join(store, "tool"): 0o755, filepath.Join(store, "data"): 0o444, filepath.Join(project, "own"): 0o644} {
		if err := os.WriteFile(name, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"store/tool": "project/a/b/tool", "store/data": "project/data", "project/own": "project/a/same",
	} {
		if err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(store, "data"), filepath.Join(state, "data")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(store, filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}

	paths := []string{project, filepath.Join(project, "a"), filepath.Join(state, "data")}
	copied, err := workspace.Unshare(t.Context(), paths)
	if err != nil || copied != 3 {
		t.Fatalf("copied %d: %v", copied, err)
	}
	for from, to := range map[string]string{"store/tool": "project/a/b/tool", "store/data": "project/data"} {
		was, is := stat(t, filepath.Join(dir, from)), stat(t, filepath.Join(dir, to))
		if os.SameFile(was, is) || was.Mode() != is.Mode() || !was.ModTime().Equal(is.ModTime()) {
			t.Errorf("%s is %v of %v, %s is %v of %v", from, was.Mode(), was.ModTime(), to, is.Mode(), is.ModTime())
		}
		if diff := cmp.Diff(read(t, filepath.Join(dir, from)), read(t, filepath.Join(dir, to))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", to, diff)
		}
	}
	if !os.SameFile(stat(t, filepath.Join(project, "own")), stat(t, filepath.Join(project, "a", "same"))) {
		t.Error("what is linked within the project is linked no longer")
	}
	if os.SameFile(stat(t, filepath.Join(state, "data")), stat(t, filepath.Join(store, "data"))) {
		t.Error("a file that is named by itself is still shared")
	}
	if copied, err := workspace.Unshare(t.Context(), paths); err != nil || copied != 0 {
		t.Errorf("the second time it copied %d: %v", copied, err)
	}
}

// The error for folders that are nested too deep names the first three.
func TestUnshareNamesTheFirstFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "deep", strings.Repeat("d/", 300)), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := workspace.Unshare(t.Context(), []string{dir})
	if !errors.Is(err, untrusted.ErrTooDeep) || !strings.HasSuffix(err.Error(), ": "+filepath.Join(dir, "deep/d/d")) {
		t.Errorf("Unshare = %v", err)
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
