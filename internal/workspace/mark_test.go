package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/workspace"
)

// All processes that share a mark read it, and so does the next one if none of them finished the work.
func TestMark(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "mark")
	opened := func(want string, alone bool) *workspace.Mark {
		t.Helper()
		mark, text, only, err := workspace.OpenMark(name)
		if err != nil || string(text) != want || only != alone {
			t.Fatalf("OpenMark = %q, only %t, %v; want %q, %t", text, only, err, want, alone)
		}
		return mark
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := opened("", true)
	must(errors.Join(first.Write([]byte("search all")), first.Write([]byte("search")), first.Share()))
	second := opened("search", false)
	must(first.Close(true)) // the second has it open
	must(second.Close(false))
	third := opened("search", true)
	must(third.Close(true))
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	must(opened("", true).Close(true))
	var none *workspace.Mark
	must(none.Close(true))
}
