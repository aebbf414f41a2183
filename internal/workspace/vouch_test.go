package workspace_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// began returns a run with some lines in its journal, which is still open.
func began(t *testing.T, folder workspace.Folder, id string, lines int) (workspace.Run, *workspace.OpenJournal) {
	t.Helper()
	run, err := folder.NewRun(id)
	if err != nil {
		t.Fatal(err)
	}
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

// ralph vouches only for a journal that it wrote, also after a kill at any point of a write.
func TestVouched(t *testing.T) {
	dir := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(dir, "work", ".ralph"), StateDir: filepath.Join(dir, "home", "state")}
	run, file := began(t, folder, "run-1", 3)
	whole, err := os.ReadFile(run.Journal())
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for name, c := range map[string]struct {
		text []byte
		want bool
	}{
		"as it was":            {whole, true},
		"killed before a line": {whole[:last], true},
		"killed within it":     {whole[:last+5], true},
		"older":                {whole[:bytes.IndexByte(whole, '\n')+1], false},
		"as long":              {bytes.Replace(whole, []byte("run-1"), []byte("run-9"), 1), false},
		"empty":                {nil, false},
	} {
		if err := os.WriteFile(run.Journal(), c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := folder.IsVouched(run); got != c.want {
			t.Errorf("%s: vouched %t, want %t", name, got, c.want)
		}
	}
	if err := os.RemoveAll(run.Path); err != nil { // like git clean of an agent
		t.Fatal(err)
	}
	if mended, err := file.Restore(); !mended || err != nil || !folder.IsVouched(run) {
		t.Errorf("put back: %t, %v, and vouched %t", mended, err, folder.IsVouched(run))
	}
	if other := (workspace.Folder{Path: folder.Path}); other.IsVouched(run) || folder.IsVouched(workspace.Run{}) {
		t.Error("vouched without a folder of one's own, or for no run")
	}
}

// A newer journal that was planted, or is of another task, does not hide a run that began here.
func TestBegun(t *testing.T) {
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
	for wanted, seq := range map[string]int{first.ID: 1, second.ID: 2} {
		if run, _ := folder.NewestVouched(func(run journal.Run) bool { return run.Seq == seq }); run.ID != wanted {
			t.Errorf("begun is %q, want %q", run.ID, wanted)
		}
	}
	if run, _ := folder.NewestVouched(func(run journal.Run) bool { return run.Seq > 2 }); run.ID != "" {
		t.Errorf("begun is %q, want none", run.ID)
	}
	if err := os.RemoveAll(second.Path); err != nil {
		t.Fatal(err)
	}
	began(t, folder, "run-4", 0)
	if left, err := os.ReadDir(folder.StateDir); err != nil || len(left) != 2 {
		t.Errorf("digests of %d journals, %v; want those of 2", len(left), err)
	}
}

// The next run removes digests of removed journals, unless the whole project is missing:
// its disk may be unmounted.
func TestForgottenJournals(t *testing.T) {
	dir := t.TempDir()
	at := func(project string) workspace.Folder {
		return workspace.Folder{Path: filepath.Join(dir, project, ".ralph"), StateDir: filepath.Join(dir, "state")}
	}
	gone, _ := began(t, at("here"), "run-1", 1)
	began(t, at("disk"), "run-1", 1)
	if err := os.RemoveAll(gone.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "disk"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	began(t, at("here"), "run-2", 1)
	kept, err := os.ReadDir(filepath.Join(dir, "state"))
	if err != nil || len(kept) != 2 {
		t.Errorf("ReadDir = %d digests, %v, want those of run-2 and of the project that is away", len(kept), err)
	}
	if err := os.Rename(filepath.Join(dir, "away"), filepath.Join(dir, "disk")); err != nil {
		t.Fatal(err)
	}
	if home := at("disk").Run("run-1"); !at("disk").IsVouched(home) {
		t.Error("Vouched = false, want the journal of a disk that came back")
	}
}

// Trees can have unpushed work: they are kept for 90 days after the removal of their
// journal, and without limit while the project's disk is unmounted.
func TestTreesOutliveTheirJournal(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		age  time.Duration
		away bool
		want bool
	}{
		"young":           {89 * day, false, true},
		"old":             {91 * day, false, false},
		"old, disk away":  {91 * day, true, true},
		"run is at work":  {0, false, true},
		"young, and away": {day, true, true},
	} {
		dir := t.TempDir()
		at := func(project string) workspace.Folder {
			return workspace.Folder{Path: filepath.Join(dir, project, ".ralph"), StateDir: filepath.Join(dir, "state")}
		}
		run, _ := began(t, at("one"), "run-1", 1)
		work := filepath.Join(at("one").TreesDir("run-1"), "work")
		gone, made := run.Path, time.Now().Add(-c.age)
		if c.away {
			gone = filepath.Join(dir, "one")
		}
		if err := errors.Join(os.MkdirAll(work, 0o755), os.Chtimes(filepath.Dir(work), made, made), os.RemoveAll(gone)); err != nil {
			t.Fatal(err)
		}
		began(t, at("other"), "run-2", 1)
		if _, err := os.Stat(work); (err == nil) != c.want {
			t.Errorf("%s: %v, want the trees there: %t", name, err, c.want)
		}
	}
}

// The digests do not include a line that could not be written.
func TestVouchedAfterAFailedWrite(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph"), StateDir: t.TempDir()}
	run, file := began(t, folder, "run-1", 9)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	full := unix.Rlimit{Cur: fullAt, Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	line, err := journal.Encode(journal.Entry{Seq: 10, Event: journal.Noted{What: strings.Repeat("one that does not fit ", fullAt/20)}})
	_, failed := file.Write(line)
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_FSIZE, &before)); err != nil || failed == nil {
		t.Fatalf("%v, and the write ended with %v", err, failed)
	}
	if !folder.IsVouched(run) {
		t.Error("not vouched for after the failed write")
	}
	if _, err := file.Write(bytes.ReplaceAll(line, []byte("one that does not fit "), nil)); err != nil {
		t.Fatal(err)
	}
	if !folder.IsVouched(run) {
		t.Error("not vouched for after a line behind the failed write")
	}
}

// What a command closed in the user's home is open again, and nothing else changes.
func TestOpenUserState(t *testing.T) {
	home := t.TempDir()
	folders := []string{".local", ".local/state", ".local/state/ralph", ".local/state/ralph/guards"}
	for _, name := range append(folders, ".local/share") {
		if err := os.Mkdir(filepath.Join(home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{folders[3], folders[2], ".local/share"} {
		if err := os.Chmod(filepath.Join(home, name), 0o040); err != nil {
			t.Fatal(err)
		}
	}
	workspace.OpenUserState(home)
	for name, want := range map[string]os.FileMode{folders[1]: 0o755, folders[2]: 0o740, folders[3]: 0o740, ".local/share": 0o040} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	_ = os.Chmod(filepath.Join(home, ".local/share"), 0o755)
}
