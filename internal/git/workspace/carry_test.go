package workspace_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Pack leaves out trees, transcripts, large files and the targets of links.
func TestCarry(t *testing.T) {
	run := newRun(t)
	large := strings.Repeat("x", 256<<10)
	for name, text := range map[string]string{
		"journal.jsonl": large + large, "prompt_1.md": "do it", "log": large, "longer": large + "x",
		"transcript_1.ndjson": "{}", "work/tree/a": "a",
	} {
		write(t, run.File(name), text)
	}
	must.Do(t, os.Symlink("/etc/passwd", run.File("link")))
	files := must.Get(run.Pack())(t)
	if diff := cmp.Diff([]string{"journal.jsonl", "log", "prompt_1.md"}, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
	other := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	there := must.Get(other.Unpack(run.ID, files))(t)
	for name, text := range files {
		if got := read(t, there.File(name)); got != string(text) {
			t.Errorf("%s has %d bytes there, want %d", name, len(got), len(text))
		}
	}
	must.Do(t, os.Remove(run.Journal()))
	if files, err := run.Pack(); err == nil {
		t.Errorf("without a journal %d files are carried", len(files))
	}
}

// The files beside the journal also have a limit for their sum.
func TestCarryIsBounded(t *testing.T) {
	run := newRun(t)
	write(t, run.Journal(), "")
	for i := range 40 {
		write(t, run.File("log_"+string(rune('A'+i))), strings.Repeat("x", 200<<10))
	}
	carried := must.Get(run.Pack())(t)
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
	run := must.Get(folder.NewRun("run-1"))(t)
	write(t, run.Journal(), "old")
	write(t, run.File("work/tree/a"), "older")
	must.Get(folder.Unpack("run-1", map[string][]byte{"journal.jsonl": []byte("new")}))(t)
	if got := read(t, run.Journal()); got != "new" || run.Exists("work") {
		t.Errorf("the journal holds %q; the old trees are there: %t", got, run.Exists("work"))
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
