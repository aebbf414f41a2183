package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

const lodging = "ralph-lodging-"

// Sweep removes the folders of killed programs, but no locked folder, however old it
// is, and no folder of another user.
func TestSweepTakesUnlockedFolders(t *testing.T) {
	parent := t.TempDir()
	newTemporary := func() workspace.Temporary {
		t.Helper()
		made := must.Get(workspace.NewTemporary(parent, lodging))(t)
		return made
	}
	left, ours := newTemporary(), newTemporary()
	kept := filepath.Join(parent, "kept")
	link := filepath.Join(parent, lodging+"link")
	file := filepath.Join(parent, lodging+"file")
	closed := filepath.Join(left.Path, "fetched")
	must.Do(t, errors.Join(
		os.Mkdir(kept, 0o755), os.WriteFile(filepath.Join(kept, "it"), nil, 0o644),
		os.Symlink(kept, link), os.WriteFile(file, nil, 0o644), os.Symlink(kept, filepath.Join(left.Path, "way-out")),
		os.MkdirAll(filepath.Join(closed, "module"), 0o755), os.Chmod(closed, 0o500),
	))
	if err := left.Unlock(); err != nil { // as the system does when its program is killed
		t.Fatal(err)
	}
	workspace.Sweep(parent, lodging)
	want := []string{ours.Path, kept, link, file}
	slices.Sort(want)
	if got, err := filepath.Glob(filepath.Join(parent, "*")); !slices.Equal(got, want) || err != nil {
		t.Errorf("there are %q, %v; want %q", got, err, want)
	}
	if _, err := os.Stat(filepath.Join(kept, "it")); err != nil {
		t.Error("a link led out of it:", err)
	}
	if err := ours.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ours.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there:", err)
	}
}

// Root, too, removes no folder of another user.
func TestSweepLeavesWhatIsAnothers(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can make such a folder
	}
	parent := t.TempDir()
	theirs := filepath.Join(parent, lodging+"theirs")
	must.Do(t, errors.Join(os.Mkdir(theirs, 0o755), os.Chown(theirs, 1500, 1500)))
	workspace.Sweep(parent, lodging)
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}
