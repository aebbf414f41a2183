package workspace_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// A file is followed from where the last look ended, and from its beginning if it was made anew.
func TestCopyFrom(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	run, err := folder.NewRun("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.CopyFrom("log", 0, new(strings.Builder)); err == nil {
		t.Error("a missing file was copied")
	}
	var offset int64
	looks := []struct{ text, want string }{{"one", "one"}, {"one two", " two"}, {"one two", ""}, {"new", "new"}}
	for _, look := range looks {
		if err := run.WriteFile("log", []byte(look.text)); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if offset, err = run.CopyFrom("log", offset, &got); got.String() != look.want || err != nil {
			t.Errorf("of %q: %q, %v; want %q", look.text, got.String(), err, look.want)
		}
	}
}
