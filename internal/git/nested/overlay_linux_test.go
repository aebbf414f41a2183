package nested_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// onOverlay puts what lies in the folder into the lower layer of an overlay, as an image does, where that can be mounted.
func (w watched) onOverlay() {
	w.Helper()
	layers := w.TempDir()
	lower, upper, work := filepath.Join(layers, "lower"), filepath.Join(layers, "upper"), filepath.Join(layers, "work")
	if err := errors.Join(os.CopyFS(lower, os.DirFS(w.top)), os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		w.Fatal(err)
	}
	rights.Mounts(w.T)("overlay", "overlay", w.top, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work))
}

// A folder of an image cannot be renamed.
func TestFoldersOfAnImageAreMovedAside(t *testing.T) {
	w := watch(t, map[string]string{"web/.git/HEAD": "x", "web/.git/hooks/pre-push": "user's", "web/.git/hooks/more/x": "user's"})
	w.onOverlay()
	w = w.again()
	w.fill(map[string]string{"web/.git/hooks/post-checkout": "agent's"})
	w.want("web/.git/hooks")
	found := map[string]string{}
	for _, name := range []string{"hooks.moved-by-ralph/pre-push", "hooks.moved-by-ralph/more/x", "hooks.moved-by-ralph/post-checkout", "hooks/post-checkout"} {
		text, _ := os.ReadFile(filepath.Join(w.top, "web/.git", name)) // nothing where it is missing
		found[name] = string(text)
	}
	want := map[string]string{
		"hooks.moved-by-ralph/pre-push": "user's", "hooks.moved-by-ralph/more/x": "user's", "hooks.moved-by-ralph/post-checkout": "agent's", "hooks/post-checkout": "",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What could not be moved is not told to be.
func TestOnlyWhatWasMovedIsTold(t *testing.T) {
	w := watch(t, nil)
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	folder := filepath.Join(w.top, "web", ".git")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if !rights.Mounts(t)("tmpfs", "tmpfs", folder, "") {
		return
	}
	moved, err := settle(t.Context())
	if len(moved) > 0 || !errors.Is(err, syscall.EBUSY) {
		t.Errorf("moved aside %q, %v; want nothing, and that it is busy", moved, err)
	}
}
