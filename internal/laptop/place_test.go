package laptop_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
)

// A folder has one name, no matter what the command line calls it.
func TestFolder(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(top, "shop")
	err = errors.Join(os.MkdirAll(filepath.Join(shop, "web"), 0o755), os.Symlink(shop, filepath.Join(top, "mine")), os.Symlink("web", filepath.Join(shop, "site")))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(top, "mine"))
	for name, want := range map[string]string{
		".": shop, "web": filepath.Join(shop, "web"), "../mine": shop, filepath.Join(top, "mine", "web"): filepath.Join(shop, "web"), "site": filepath.Join(shop, "web"),
		"missing": filepath.Join(shop, "missing"), "site/missing": filepath.Join(shop, "web", "missing"),
	} {
		if got, err := world(t, top).Folder(name); got != want || err != nil {
			t.Errorf("Folder(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

// A working directory that another folder has taken the place of is refused.
func TestMovedFolder(t *testing.T) {
	top := t.TempDir()
	shop := filepath.Join(top, "shop")
	if err := os.Mkdir(shop, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(shop)
	if err := errors.Join(os.Rename(shop, filepath.Join(top, "moved")), os.Mkdir(shop, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, err := world(t, top).Folder("."); fault.Hint(err) == "" && filepath.Base(got) != "moved" {
		t.Errorf("Folder = %q, %v; want a fault", got, err)
	}
}

// A folder that became a link to another repository after it was found is refused.
func TestReplacedFolder(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop, other := repository(t, filepath.Join(top, "shop")), repository(t, filepath.Join(top, "other"))
	tool, err := world(t, top).Git(shop)
	if err != nil {
		t.Fatal(err)
	}
	if place, err := laptop.PlaceOf(t.Context(), tool, shop); err != nil || place.Top != shop {
		t.Errorf("PlaceOf = %s, %v; want %s", place.Top, err, shop)
	}
	if err := errors.Join(os.RemoveAll(shop), os.Symlink(other, shop)); err != nil {
		t.Fatal(err)
	}
	if place, err := laptop.PlaceOf(t.Context(), tool, shop); fault.Hint(err) == "" {
		t.Errorf("PlaceOf = %s, %v; want a fault", place.Top, err)
	}
}
