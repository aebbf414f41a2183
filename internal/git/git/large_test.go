package git_test

import (
	"fmt"
	"strings"
	"testing"
)

// Folders of more than a megabyte are compared like others.
func TestTakeComparesLargeFolders(t *testing.T) {
	l := newLab(t)
	blob, below := string(unhex(plant(l, "blob", "x"))), ""
	for folder := range 3 { // each in the one before
		var raw strings.Builder
		for i := range 175 {
			fmt.Fprintf(&raw, "100644 %d%03d%s\x00%s", folder, i, strings.Repeat("n", 4000), blob)
		}
		if below != "" {
			raw.WriteString("40000 z\x00" + string(unhex(below)))
		}
		below = plant(l, "tree", raw.String())
	}
	top := l.agent("ls-tree", "HEAD") + "\n040000 tree " + below + "\tz\n"
	whole := sh(t, l.tree.Dir, top, "git", "mktree")
	tip := plant(l, "commit", strings.Replace(commitText(l, "x\n"), l.agent("rev-parse", "HEAD^{tree}"), whole, 1))
	got := l.take(l.terms())
	if got.To != tip || len(got.Files) != 100 {
		t.Errorf("Take = %s with %d files, refused for %v, want %s with 100", got.To, len(got.Files), got.Refused, tip)
	}
}
