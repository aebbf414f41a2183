package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// began returns a run with some lines in its journal, which is still open.
func began(t *testing.T, folder workspace.Folder, id string, lines int) (workspace.Run, *workspace.OpenJournal) {
	t.Helper()
	run := must.Get(folder.NewRun(id))(t)
	file, _, err := run.OpenJournalFile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for n := range lines {
		line, err := journal.Encode(journal.Entry{Seq: n + 1, Event: journal.Noted{What: id}})
		if err == nil {
			_, err = file.Write(line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return run, file
}

// A newer journal that a checkout brought, or that is of another task, does not hide a run that was opened here.
func TestNewestHere(t *testing.T) {
	dir := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(dir, "work", ".ralph"), StateDir: filepath.Join(dir, "state")}
	first, _ := began(t, folder, "run-1", 1)
	second, _ := began(t, folder, "run-2", 2)
	text, err := os.ReadFile(second.Journal())
	if err == nil {
		_, err = folder.Unpack("run-3", map[string][]byte{workspace.JournalFile: text})
	}
	if err != nil {
		t.Fatal(err)
	}
	for wanted, seq := range map[string]int{first.ID: 1, second.ID: 2, "": 3} {
		if run, _ := folder.NewestHere(func(run journal.Run) bool { return run.Seq == seq }); run.ID != wanted {
			t.Errorf("the newest is %q, want %q", run.ID, wanted)
		}
	}
	all := func(journal.Run) bool { return true }
	if run, _ := (workspace.Folder{Path: folder.Path}).NewestHere(all); run.ID != "" {
		t.Errorf("the newest is %q without a folder of the user's state", run.ID)
	}
	elsewhere := workspace.Folder{Path: filepath.Join(dir, "moved", ".ralph"), StateDir: folder.StateDir}
	must.Do(t, os.Rename(filepath.Dir(folder.Path), filepath.Dir(elsewhere.Path)))
	if run, _ := elsewhere.NewestHere(all); run.ID != "" {
		t.Errorf("the newest is %q, which was opened elsewhere", run.ID)
	}
}

// Nothing of a line that could not be written as a whole stays in the journal.
func TestAfterAFailedWrite(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	run, file := began(t, folder, "run-1", 9)
	line, err := journal.Encode(journal.Entry{Seq: 10, Event: journal.Noted{What: strings.Repeat("one that does not fit ", fullAt/20)}})
	if err != nil {
		t.Fatal(err)
	}
	onFullDisk(t, func() error { _, err := file.Write(line); return err })
	must.Get(file.Write(bytes.ReplaceAll(line, []byte("one that does not fit "), nil)))(t)
	if entries, err := run.Entries(); err != nil || len(entries) != 10 {
		t.Errorf("the journal has %d entries, %v; want 10", len(entries), err)
	}
}
