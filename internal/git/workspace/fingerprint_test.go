package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// A fingerprint changes with the files of a folder, and not with ralph's own files.
func TestFingerprint(t *testing.T) {
	for name, test := range map[string]struct {
		change func(dir string) error
		same   bool
	}{
		"nothing":           {func(string) error { return nil }, true},
		"a file of ours":    {writing(".ralph/runs/x/journal.jsonl", "x"), true},
		"our marker":        {writing(".ralph-active", "{}"), true},
		"the same again":    {writing("sub/b", "two"), true},
		"other content":     {writing("sub/b", "owt"), false},
		"a new file":        {writing("c", ""), false},
		"no file any more":  {func(dir string) error { return os.Remove(filepath.Join(dir, "a")) }, false},
		"another name":      {func(dir string) error { return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "z")) }, false},
		"it may be run now": {func(dir string) error { return os.Chmod(filepath.Join(dir, "a"), 0o755) }, false},
		"a link that turns": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "link")), os.Symlink("b", filepath.Join(dir, "link")))
		}, false},
		"a link":          {func(dir string) error { return os.Symlink("/nowhere", filepath.Join(dir, "l")) }, false},
		"a large file":    {func(dir string) error { return os.Truncate(filepath.Join(dir, "large"), 3<<20) }, false},
		"an empty folder": {func(dir string) error { return os.Mkdir(filepath.Join(dir, "empty"), 0o755) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"a": "one", "sub/b": "two", "large": ""} {
				if err := writing(file, text)(dir); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Truncate(filepath.Join(dir, "large"), 2<<20), os.Symlink("a", filepath.Join(dir, "link"))); err != nil {
				t.Fatal(err)
			}
			before := workspace.Fingerprint(t.Context(), dir)
			if err := test.change(dir); err != nil {
				t.Fatal(err)
			}
			after := workspace.Fingerprint(t.Context(), dir)
			if before == "" || (before == after) != test.same {
				t.Errorf("fingerprints %q and %q, want them the same: %t", before, after, test.same)
			}
		})
	}
}

func TestNoFingerprint(t *testing.T) {
	if got := workspace.Fingerprint(t.Context(), filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("a folder that is not there has the fingerprint %q", got)
	}
}

func writing(name, text string) func(string) error {
	return func(dir string) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	}
}
