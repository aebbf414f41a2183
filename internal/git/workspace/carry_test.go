package workspace_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// fill writes files of a run.
func fill(t *testing.T, run workspace.Run, files map[string]string) {
	t.Helper()
	for name, text := range files {
		put(t, run.File(name), text)
	}
}

// Pack leaves out trees, transcripts, large files and the targets of links.
func TestCarry(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	run, err := folder.NewRun("run-1")
	if err != nil {
		t.Fatal(err)
	}
	large := string(bytes.Repeat([]byte("x"), 256<<10))
	fill(t, run, map[string]string{
		"journal.jsonl": large + large, "prompt_1.md": "do it", "log": large, "longer": large + "x",
		"transcript_1.ndjson": "{}", "work/tree/a": "a",
	})
	if err := os.Symlink("/etc/passwd", run.File("link")); err != nil {
		t.Fatal(err)
	}
	files, err := run.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"journal.jsonl", "log", "prompt_1.md"}, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
	other := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	there, err := other.Unpack(run.ID, files)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if got, err := os.ReadFile(there.File(name)); !bytes.Equal(got, text) || err != nil {
			t.Errorf("%s has %d bytes there, %v, want %d", name, len(got), err, len(text))
		}
	}
	if err := os.Remove(run.Journal()); err != nil {
		t.Fatal(err)
	}
	if files, err := run.Pack(); err == nil {
		t.Errorf("without a journal %d files are carried", len(files))
	}
}

// The files beside the journal also have a limit for their sum.
func TestCarryIsBounded(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	run, err := folder.NewRun("run-1")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"journal.jsonl": ""}
	for i := range 40 {
		files["log_"+string(rune('A'+i))] = string(bytes.Repeat([]byte("x"), 200<<10))
	}
	fill(t, run, files)
	carried, err := run.Pack()
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, text := range carried {
		size += len(text)
	}
	if size > 4<<20 || size < 3<<20 {
		t.Errorf("%d bytes are carried", size)
	}
}

// Unpack replaces the files of an older copy of the run, and removes its trees.
func TestUnpackOverAnOlderOne(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	run, err := folder.NewRun("run-1")
	if err != nil {
		t.Fatal(err)
	}
	fill(t, run, map[string]string{"journal.jsonl": "old", "work/tree/a": "older"})
	if _, err := folder.Unpack("run-1", map[string][]byte{"journal.jsonl": []byte("new")}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(run.Journal())
	if string(got) != "new" || err != nil || run.Exists("work") {
		t.Errorf("the journal holds %q, %v; the old trees are there: %t", got, err, run.Exists("work"))
	}
}

func TestUnpackStaysInItsFolder(t *testing.T) {
	dir := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(dir, ".ralph")}
	for _, id := range []string{"", "..", "a/b", ".x", "/x"} {
		if run, err := folder.Unpack(id, nil); err == nil {
			t.Errorf("Unpack(%q) = %s", id, run.Path)
		}
	}
	if _, err := folder.Unpack("run-1", map[string][]byte{"../../../out": []byte("x")}); err == nil {
		t.Error("a file is written outside of the run")
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 0 {
		t.Errorf("it wrote %q, %v", names, err)
	}
}
