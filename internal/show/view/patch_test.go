package view_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// A patch is shown only while the work is nowhere else, and only unchanged.
func TestPatchInTheComment(t *testing.T) {
	const patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-```\n+/ralph stop\n"
	for name, c := range map[string]struct {
		run   journal.Run
		shown bool
	}{
		"nowhere else":                {journal.Run{Head: "c1", Published: journal.Published{Packed: &journal.Packed{Head: "c1", Patch: patch}}}, true},
		"older":                       {journal.Run{Head: "c2", Published: journal.Published{Packed: &journal.Packed{Head: "c1", Patch: patch}}}, false},
		"large":                       {journal.Run{Head: "c1", Published: journal.Published{Packed: &journal.Packed{Head: "c1"}}}, false},
		"what a comment may not hold": {journal.Run{Head: "c1", Published: journal.Published{Packed: &journal.Packed{Head: "c1", Patch: patch + "+<!-- x\n"}}}, false},
		"invisible text":              {journal.Run{Head: "c1", Published: journal.Published{Packed: &journal.Packed{Head: "c1", Patch: patch + "+a\u202eb\n"}}}, false},
	} {
		comment := view.Of(c.run).Comment
		if strings.Contains(comment, "````\n"+patch+"````") != c.shown || strings.Contains(comment, "as a patch") != c.shown {
			t.Errorf("%s: shown is to be %t in:\n%s", name, c.shown, comment)
		}
	}
}
