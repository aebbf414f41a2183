package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// A file or link in the place of .ralph is reported before anything is written, and
// does not count as a project without runs.
func TestSound(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Mkdir(at("folder"), 0o755), os.WriteFile(at("file"), nil, 0o644), os.Symlink(at("folder"), at("link")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"folder": "", "nothing": "", "file": at("file") + " is not a folder", "link": at("link") + " is a link",
	} {
		folder := workspace.Folder{Path: at(name)}
		for said, err := range map[string]error{"Sound": folder.CheckPath(), "Readable": folder.CheckJournal("")} {
			if got := text(err); got != want {
				t.Errorf("%s of %s: %q, want %q", said, name, got, want)
			}
			if want != "" && fault.Hint(err) == "" {
				t.Errorf("%s of %s: no remedy", said, name)
			}
		}
	}
}

// The hint for an unreadable journal fits the cause.
func TestReadableSaysWhatToDo(t *testing.T) {
	for line, want := range map[string]string{
		`{"v":2,"seq":1,"type":"run_began"}`: "a newer version of ralph wrote it: use that version",
		`{"mine":true}`:                      "journal.jsonl is damaged",
		"not ours":                           "journal.jsonl is damaged",
	} {
		run := newRun(t)
		write(t, run.Journal(), line+"\n")
		folder := workspace.Folder{Path: filepath.Join(run.Project(), ".ralph")}
		if got := fault.Hint(folder.CheckJournal("")); !strings.Contains(got, want) {
			t.Errorf("%s: hint %q, want %q", line, got, want)
		}
	}
	closed := workspace.Remedy(workspace.Run{Path: "runs/run-1"}, &fs.PathError{Op: "open", Err: fs.ErrPermission}) // as root, no file is unreadable
	if want := "make runs/run-1 and all files in it readable"; !strings.HasPrefix(closed, want) {
		t.Errorf("closed: hint %q, want %q", closed, want)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A file named .ralph is not a project's folder. The search continues above it.
func TestFindFolder(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "a", ".ralph"), "a file")
	if err := errors.Join(os.Mkdir(filepath.Join(top, ".ralph"), 0o755), os.Mkdir(filepath.Join(top, "a", "b"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if got := workspace.FindFolder(filepath.Join(top, "a", "b")); got.Path != filepath.Join(top, ".ralph") {
		t.Errorf("FindFolder = %s, want that of %s", got.Path, top)
	}
}
