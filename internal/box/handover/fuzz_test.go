package handover_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// parseCommit reads the same tree and parents as git: those in the first lines, not later ones.
func FuzzCommit(f *testing.F) {
	tree, one, two := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	const people = "author A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n"
	for _, text := range []string{
		"tree " + tree + "\n" + people + "\nfirst",
		"tree " + tree + "\nparent " + one + "\nparent " + two + "\n" + people + "encoding latin1\ngpgsig x\n y\n\nmerge",
		"tree " + tree + "\ntree " + two + "\n" + people + "\ntwo trees",
		"tree " + tree + "\n" + people + "parent " + one + "\n\na late parent",
		"tree " + tree + "\nparent " + one + "\n" + people + "\na\x00b",
		"parent " + one + "\ntree " + tree + "\n" + people,
		"tree " + tree + "\r\n" + people,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tree, parents, err := handover.ParseCommit(text)
		if err != nil {
			return
		}
		if err := git.CheckSHA(append(parents, tree)...); err != nil {
			t.Error(err)
		}
		begin := "tree " + tree + "\n"
		for _, parent := range parents {
			begin += "parent " + parent + "\n"
		}
		head, _, _ := strings.Cut(text, "\n\n")
		rest, is := strings.CutPrefix(head, begin)
		if !is || strings.Contains("\n"+rest, "\nparent ") || strings.Contains("\n"+rest, "\ntree ") {
			t.Errorf("%q is read as %q", text, begin)
		}
	})
}
