package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// A file named .ralph is not a project's folder. The search continues above it.
func TestFolderAbove(t *testing.T) {
	top := t.TempDir()
	inner := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "a", ".ralph"), "a file")
	if err := os.Mkdir(filepath.Join(top, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := workspace.FindFolder(inner); got.Path != filepath.Join(top, ".ralph") {
		t.Errorf("FolderAbove = %s, want that of %s", got.Path, top)
	}
}
