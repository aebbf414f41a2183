package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/workspace"
)

// A journal that is open for writing is restored after an agent removed or changed it.
func TestJournalIsRestored(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(folder, journal string) error
		want  bool
	}{
		"left alone":       {func(string, string) error { return nil }, false},
		"the file is gone": {func(_, journal string) error { return os.Remove(journal) }, true},
		"all is gone":      {func(folder, _ string) error { return os.RemoveAll(folder) }, true},
		"emptied":          {func(_, journal string) error { return os.Truncate(journal, 0) }, true},
		"added to": {func(_, journal string) error {
			return os.WriteFile(journal, []byte("one\ntwo\nthree\n"), 0o644)
		}, true},
		"changed to the same length": {func(_, journal string) error {
			return os.WriteFile(journal, []byte("two\n"), 0o644)
		}, true},
		"another in its place": {func(_, journal string) error {
			return os.Rename(filepath.Join(filepath.Dir(journal), "other"), journal)
		}, true},
		"a link in its place": {func(_, journal string) error {
			return os.Rename(filepath.Join(filepath.Dir(journal), "link"), journal)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
			run, err := folder.NewRun("run-1")
			if err != nil {
				t.Fatal(err)
			}
			ledger, _, err := run.OpenJournalFile()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ledger.Close() })
			record(t, ledger, "one\n")
			if err := os.WriteFile(run.File("other"), []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("other", run.File("link")); err != nil {
				t.Fatal(err)
			}
			if err := test.spoil(folder.Path, run.Journal()); err != nil {
				t.Fatal(err)
			}
			mended, err := ledger.Restore()
			if err != nil || mended != test.want {
				t.Fatalf("Mend = %t, %v, want %t", mended, err, test.want)
			}
			record(t, ledger, "two\n")
			got, err := os.ReadFile(run.Journal())
			if err != nil || string(got) != "one\ntwo\n" {
				t.Errorf("the journal holds %q, %v", got, err)
			}
		})
	}
}

func record(t *testing.T, ledger *workspace.OpenJournal, line string) {
	t.Helper()
	if _, err := ledger.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Sync(); err != nil {
		t.Fatal(err)
	}
}
