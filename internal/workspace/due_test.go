package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/workspace"
)

// What is to be done is read by all that have the file at once, and by the next one if none of them did it.
func TestDue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "new", "due")
	opened := func(want string, alone bool) *workspace.Due {
		t.Helper()
		due, text, only, err := workspace.OpenDue(name)
		if err != nil || string(text) != want || only != alone {
			t.Fatalf("OpenDue = %q, only %t, %v; want %q, %t", text, only, err, want, alone)
		}
		return due
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
	must(first.Close(true)) // the second is not done yet
	must(second.Close(false))
	third := opened("search", true)
	must(third.Close(true))
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	must(opened("", true).Close(true))
	var none *workspace.Due
	must(none.Close(true))
}
