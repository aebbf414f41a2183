package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// An included file is guarded by any path by which the configuration reaches it, there or not,
// and so is each link on the way to it.
func TestIncluded(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "real", "shop")
	config := filepath.Join(top, ".git", "config")
	err = errors.Join(
		os.MkdirAll(filepath.Join(top, ".git"), 0o755), os.MkdirAll(filepath.Join(top, "cfg", "deep"), 0o755), os.Symlink("real", filepath.Join(dir, "home")),
		os.WriteFile(config, []byte("[include]\n"), 0o644), os.WriteFile(filepath.Join(top, "cfg", "real"), nil, 0o644), os.Symlink("cfg/real", filepath.Join(top, ".linked")),
		os.Symlink(".linked", filepath.Join(top, ".twice")), os.Symlink("cfg/deep", filepath.Join(top, "way")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string][]string{
		"../.gitconfig":         {".gitconfig"},
		"../new/more":           {"new/more"},
		dir + "/home/shop/a/b":  {"../../home", "a/b"},
		"../.linked":            {".linked", "cfg/real"},
		"../.twice":             {".twice", ".linked", "cfg/real"},
		"../way/x":              {"way", "cfg/deep/x"},
		"../way/../x":           {"way", "cfg/x"},
		"../missing/../x":       {"missing", "x"},
		"../missing/more/../x":  {"missing/x"},
		dir + "/real/beside/it": {"../beside/it"},
	} {
		list := func([]byte) ([]byte, error) { return []byte("include.path\n" + to + "\x00"), nil }
		var got []string
		for _, path := range guarded.Included(nil, []string{config}, 1<<20, list) {
			name, err := filepath.Rel(top, path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", to, diff)
		}
	}
}
