package laptop_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
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
