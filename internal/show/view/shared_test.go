package view_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

// The texts for other pages are the same as in the comment.
func TestSharedWordsAreTheComments(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		run := journaltest.Run(t, archive.Files[0].Data)
		comment := view.Comment(run)
		if !strings.HasSuffix(view.Of(run).Comment, "\n"+comment) || strings.Contains(comment, "<!--") {
			t.Errorf("%s: the comment is\n%s", name, comment)
		}
		words := []string{view.Headline(run)[1:] + "** ·"} // it begins with a capital
		if next := view.Next(run); next != "" {
			words = append(words, "**Next:** "+next+".")
		}
		for _, want := range words {
			if !strings.Contains(comment, want) && len(run.Iterations) > 0 {
				t.Errorf("%s: the comment does not say %q:\n%s", name, want, comment)
			}
		}
	}
}
