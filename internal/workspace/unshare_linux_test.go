package workspace_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/rights"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// A folder that is closed to its owner is opened, as a sandboxed program could do: hard links in it are found.
func TestUnshareOpensClosedFolders(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o111, 0o444, 0o555} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			dir := t.TempDir()
			project, store := filepath.Join(dir, "project"), filepath.Join(dir, "store")
			closed := filepath.Join(project, "a", "refs")
			err := errors.Join(
				os.MkdirAll(filepath.Join(closed, "b"), 0o755), os.WriteFile(store, nil, 0o600), os.Chmod(store, 0o666),
				os.Link(store, filepath.Join(closed, "b", "x")), os.Chmod(closed, mode),
			)
			if err != nil {
				t.Fatal(err)
			}
			rights.Drop(t, project, filepath.Join(project, "a"), closed, filepath.Join(closed, "b"), store)
			t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
			if copied, err := workspace.Unshare(t.Context(), []string{project}); err != nil || copied != 1 {
				t.Errorf("copied %d: %v", copied, err)
			}
		})
	}
}
