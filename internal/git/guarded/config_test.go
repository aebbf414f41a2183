package guarded_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// An included file is guarded by any path by which the configuration reaches it, there or not,
// and so is each link on the way to it. A folder that .. comes after only has to stay one.
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
		"../.gitconfig":          {".gitconfig"},
		"../new/more":            {"new/more"},
		dir + "/home/shop/a/b":   {"../../home", "a/b"},
		"../.linked":             {".linked", "cfg/real"},
		"../.twice":              {".twice", ".linked", "cfg/real"},
		"../way/x":               {"way", "cfg/deep/x"},
		"../way/../x":            {"way", "cfg/x", "cfg/deep/"},
		"../missing/../x":        {"x", "missing/"},
		"../missing/more/../x":   {"missing/x", "missing/more/"},
		"../cfg/../x":            {"x", "cfg/"},
		"../cfg/real/../x":       {"cfg/real", "cfg/x"},
		"../missing/../cfg/../x": {"x", "missing/", "cfg/"},
		dir + "/real/beside/it":  {"../beside/it"},
	} {
		list := func([]byte) ([]byte, error) { return []byte("include.path\n" + to + "\x00"), nil }
		ways, err := guarded.Includes{Size: 1 << 20, Files: 1, List: list}.Of(nil, config)
		if err != nil {
			t.Errorf("%s: %v", to, err)
		}
		var got []string
		for i, path := range slices.Concat(ways.Names, ways.Folders) {
			name, err := filepath.Rel(top, path)
			if err != nil {
				t.Fatal(err)
			}
			if i >= len(ways.Names) {
				name += "/"
			}
			if name != ".git/" { // where each relative path begins
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", to, diff)
		}
	}
}

// A file is read once, however often it is included, and a search for more files than its limit ends with an error.
func TestIncludedAgain(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[include]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{
		strings.Repeat("include.path\nconfig\x00", 500):                                nil,
		"include.path\na\x00include.path\nb\x00include.path\nc\x00":                    guarded.ErrMany,
		"include.path\n" + strings.Repeat("x/", 4096) + "\x00include.path\nconfig\x00": nil,
	} {
		calls := 0
		ways, err := guarded.Includes{Size: 1 << 20, Files: 2, List: func([]byte) ([]byte, error) {
			calls++
			return []byte(text), nil
		}}.Of(nil, config)
		if !errors.Is(err, want) || calls > 2 || len(ways.Names) > 2 {
			t.Errorf("%.40q: %d calls, %d paths, %v; want at most 2 of each, and %v", text, calls, len(ways.Names), err, want)
		}
	}
}

// A list that cannot be had is an error, and the other files are still found.
func TestIncludedWithoutAList(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if err := errors.Join(os.WriteFile(first, []byte("include"), 0o644), os.WriteFile(second, []byte("include it"), 0o644)); err != nil {
		t.Fatal(err)
	}
	ways, err := guarded.Includes{Size: 1 << 20, Files: 1, List: func(config []byte) ([]byte, error) {
		if string(config) == "include" {
			return nil, os.ErrDeadlineExceeded
		}
		return []byte("include.path\nx\x00"), nil
	}}.Of(nil, first, second)
	if len(ways.Names) != 1 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("paths %q, %v", ways.Names, err)
	}
}
