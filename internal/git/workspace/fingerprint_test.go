package workspace_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// A fingerprint changes with the files of a folder, and not with ralph's own files.
func TestFingerprint(t *testing.T) {
	for name, test := range map[string]struct {
		change string // a shell script
		same   bool
	}{
		"nothing":           {"", true},
		"a file of ours":    {"mkdir .ralph; echo x >.ralph/x; echo x >.ralph-active", true},
		"the same again":    {"printf two >sub/b", true},
		"other content":     {"printf owt >sub/b", false},
		"a new file":        {"touch c", false},
		"another name":      {"mv a z", false},
		"it may be run now": {"chmod +x a", false},
		"a link that turns": {"ln -sf b link", false},
		"a large file":      {"truncate -s 3M large", false},
		"an empty folder":   {"mkdir empty", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			do := func(script string) {
				t.Helper()
				c := exec.CommandContext(t.Context(), "sh", "-ec", script)
				c.Dir = dir
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			do("printf one >a; mkdir sub; printf two >sub/b; truncate -s 2M large; ln -s a link")
			before := workspace.Fingerprint(t.Context(), dir)
			do(test.change)
			after := workspace.Fingerprint(t.Context(), dir)
			if before == "" || (before == after) != test.same {
				t.Errorf("fingerprints %q and %q, want them the same: %t", before, after, test.same)
			}
		})
	}
	if got := workspace.Fingerprint(t.Context(), filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("a folder that is not there has the fingerprint %q", got)
	}
}
