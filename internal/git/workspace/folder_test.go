package workspace_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

var (
	write = gittest.Write
	read  = gittest.Read
)

const song = "do not touch\n"

// canary returns a file outside of all folders that must not change.
func canary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "canary")
	write(t, path, song)
	return path
}

func sings(t *testing.T, canary string) {
	t.Helper()
	if got := read(t, canary); got != song {
		t.Errorf("the file outside was written to: %.40q", got)
	}
	if others, _ := os.ReadDir(filepath.Dir(canary)); len(others) != 1 {
		t.Errorf("the folder outside holds %v, want the canary alone", others)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(at), 0o755))
	must.Do(t, os.Symlink(to, at))
}

// lines returns the text of a journal.
func lines(t *testing.T, story string) string {
	t.Helper()
	var text strings.Builder
	for _, entry := range journaltest.Entries(t, []byte(story)) {
		line := must.Get(journal.Encode(entry))(t)
		text.Write(line)
	}
	return text.String()
}

const (
	going  = `{"type":"noted","what":"one"}`
	broken = "no journal\n"
)

func newRun(t *testing.T) workspace.Run {
	t.Helper()
	run := must.Get(workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}.NewRun("r1"))(t)
	return run
}

// An incomplete line from a crash is cut off, and the next line replaces it.
func TestJournalGoesOnAfterATornLine(t *testing.T) {
	run, whole := newRun(t), lines(t, going)
	write(t, run.Journal(), whole+`{"v":1,"seq":3,"at":"2026-11-`)
	file, entries, err := run.OpenJournalFile()
	if err != nil || len(entries) != 2 {
		t.Fatalf("OpenJournal = %d entries, %v; want 2", len(entries), err)
	}
	if got := read(t, run.Journal()); got != whole {
		t.Errorf("the journal is %q, want the torn line cut off", got)
	}
	must.Get(io.WriteString(file, "next\n"))(t)
	must.Do(t, file.Close())
	if got := read(t, run.Journal()); got != whole+"next\n" {
		t.Errorf("after an append the journal is %q", got)
	}
}

// A damaged line before the last is not from a crash: nothing is cut.
func TestJournalWithABrokenMiddleIsRefused(t *testing.T) {
	run := newRun(t)
	text := broken + lines(t, going)
	write(t, run.Journal(), text)
	if _, _, err := run.OpenJournalFile(); err == nil {
		t.Error("OpenJournal took it")
	}
	if _, err := run.Entries(); err == nil {
		t.Error("Entries took it")
	}
	if got := read(t, run.Journal()); got != text {
		t.Errorf("the journal was rewritten: %q", got)
	}
}

func TestNewest(t *testing.T) {
	for name, test := range map[string]struct {
		journals map[string]string // by the run's name
		want     string
	}{
		"none":                           {nil, ""},
		"the newest of two":              {map[string]string{"1": going, "2": going}, "2"},
		"the newer one is of another":    {map[string]string{"1": going, "2": `{"type":"run_began","task":{"number":13}}`}, "1"},
		"the newer one cannot be read":   {map[string]string{"1": going, "2": broken}, "1"},
		"the newer one has no journal":   {map[string]string{"1": going, "2": "-"}, "1"},
		"only what cannot be read":       {map[string]string{"1": broken}, ""},
		"a name like a run's, no folder": {map[string]string{"1": going, "2": "file"}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
			for id, text := range test.journals {
				stage(t, folder, id, text)
			}
			run, _ := folder.Newest(func(r journal.Run) bool { return r.Task.Number == 12 })
			if run.ID != test.want {
				t.Errorf("Newest = %q; want %q", run.ID, test.want)
			}
			if run.ID != "" && run.Journal() != filepath.Join(folder.Path, "runs", test.want, "journal.jsonl") {
				t.Errorf("its journal is %s", run.Journal())
			}
		})
	}
}

// stage makes the folder of a run with a journal, without one ("-"), or a file
// instead of the folder.
func stage(t *testing.T, folder workspace.Folder, id, text string) {
	t.Helper()
	if text == "file" {
		write(t, filepath.Join(folder.Path, "runs", id), "")
		return
	}
	run := must.Get(folder.NewRun(id))(t)
	switch text {
	case "-":
	case broken, "":
		write(t, run.Journal(), text)
	default:
		write(t, run.Journal(), lines(t, text))
	}
}

func TestNewTwiceIsRefused(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), "deep", ".ralph")}
	run := must.Get(folder.NewRun("r1"))(t)
	write(t, run.Journal(), song)
	if _, err := folder.NewRun("r1"); fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
		t.Errorf("New again = %v, want a fault with a hint", err)
	}
	if got := read(t, run.Journal()); got != song {
		t.Errorf("the first run's journal is %q", got)
	}
	if got := read(t, filepath.Join(folder.Path, ".gitignore")); got != "*\n!settings.json\n" {
		t.Errorf(".gitignore = %q, want everything ignored but the settings", got)
	}
}

// An error of a write names the path and has a hint. Root can write to any folder, so
// a file is in the place of one.
func TestNowhereToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".ralph")
	write(t, file, song)
	folder, run := workspace.Folder{Path: file}, workspace.Run{ID: "r1", Path: file}
	for name, do := range map[string]func() error{
		"New":         func() error { _, err := folder.NewRun("r1"); return err },
		"Lock":        func() error { _, err := folder.Lock(); return err },
		"OpenJournal": func() error { _, _, err := run.OpenJournalFile(); return err },
		"Create":      func() error { _, err := run.Create("a.log"); return err },
	} {
		err := do()
		if err == nil || !strings.Contains(err.Error(), file) || fault.Hint(err) == "" || fault.Exit(err) != fault.ExitUsage {
			t.Errorf("%s = %v with hint %q, want a fault that names %s", name, err, fault.Hint(err), file)
		}
	}
	if run, _ := folder.Newest(func(journal.Run) bool { return true }); run.ID != "" {
		t.Error("Newest found a run in a file")
	}
}

// A repository can contain a .ralph. Its links are not followed.
func TestFolderFollowsNoLinkOut(t *testing.T) {
	all := func(journal.Run) bool { return true }
	t.Run("the folder itself", func(t *testing.T) {
		outside, path := canary(t), filepath.Join(t.TempDir(), ".ralph")
		link(t, filepath.Dir(outside), path)
		folder := workspace.Folder{Path: path}
		if _, err := folder.NewRun("r1"); fault.Hint(err) == "" {
			t.Errorf("New = %v, want a fault", err)
		}
		if _, err := folder.Lock(); fault.Hint(err) == "" {
			t.Errorf("Lock = %v, want a fault", err)
		}
		sings(t, outside)

		other := newRun(t)
		write(t, other.Journal(), lines(t, going))
		folder.Path = filepath.Join(t.TempDir(), ".ralph")
		link(t, filepath.Dir(filepath.Dir(other.Path)), folder.Path)
		if run, _ := folder.Newest(all); run.ID != "" {
			t.Error("Newest looked behind the link")
		}
	})
	t.Run("what lies in it", func(t *testing.T) {
		for _, name := range []string{".gitignore", "runs", "lock"} {
			outside, path := canary(t), t.TempDir()
			target := outside
			if name == "runs" {
				target = filepath.Dir(outside)
			}
			link(t, target, filepath.Join(path, name))
			folder := workspace.Folder{Path: path}
			_, errRun := folder.NewRun("r1")
			if _, err := folder.Lock(); errRun == nil && err == nil {
				t.Errorf("%s: the link was followed", name)
			}
			sings(t, outside)
		}
	})
	t.Run("files of a run", func(t *testing.T) {
		outside, run := canary(t), newRun(t)
		for _, name := range []string{"journal.jsonl", "a.log"} {
			link(t, outside, run.File(name))
		}
		if _, err := run.Create("a.log"); err == nil {
			t.Error("Create followed the link")
		}
		if _, _, err := run.OpenJournalFile(); err == nil {
			t.Error("OpenJournal followed the link")
		}
		if _, err := run.Entries(); err == nil || strings.Contains(err.Error(), "line 1") {
			t.Errorf("Entries = %v, want the link not followed", err)
		}
		sings(t, outside)
	})
}
