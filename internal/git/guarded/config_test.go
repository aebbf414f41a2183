package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// An included file is guarded by whatever path the configuration reaches it, there or not.
func TestIncluded(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "real", "shop")
	config := filepath.Join(top, ".git", "config")
	err = errors.Join(
		os.MkdirAll(filepath.Join(top, ".git"), 0o755), os.Mkdir(filepath.Join(top, "cfg"), 0o755), os.Symlink("real", filepath.Join(dir, "home")),
		os.WriteFile(config, []byte("[include]\n"), 0o644), os.WriteFile(filepath.Join(top, "cfg", "real"), nil, 0o644), os.Symlink("cfg/real", filepath.Join(top, ".linked")),
	)
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(top, name))
		}
		return paths
	}
	for to, want := range map[string][]string{
		"../.gitconfig":           in(".gitconfig"),
		"../new/more":             in("new/more"),
		"~/shop/.gitconfig":       in(".gitconfig"),
		dir + "/home/shop/a/b":    in("a/b"),
		"../.linked":              in(".linked", "cfg/real"),
		"~/other":                 nil,
		"../..":                   nil,
		dir + "/real/shop-2/file": nil,
	} {
		list := func([]byte) ([]byte, error) { return []byte("include.path\n" + to + "\x00"), nil }
		got := guarded.Included(top, filepath.Join(dir, "home"), []string{config}, list)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", to, diff)
		}
	}
}
