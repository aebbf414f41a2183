package recorded_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/run/recorded"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

const begin = `{"v":1,"seq":1,"at":"2026-11-27T00:00:00Z","type":"run_began","run":"r1","policy":{"agent":"claude"}}` + "\n"

// A page has the logs of checks, by the names of the links to them, the run's other files, and what the agent printed.
func TestSource(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	home, err := folder.NewRun("r1")
	if err = errors.Join(err, home.WriteFile(workspace.JournalFile, []byte(begin)), home.WriteFile("prompt_1.md", []byte("Write b."))); err != nil {
		t.Fatal(err)
	}
	log := must.Get(home.CreateLinked("guardrail_1.log"))(t)
	if _, err := io.WriteString(log, "red"); errors.Join(err, log.Close()) != nil {
		t.Fatal(err)
	}
	source, err := recorded.Files{Home: home}.Source(t.Context())
	if err != nil || len(source.Entries) != 1 {
		t.Fatalf("%d entries, %v", len(source.Entries), err)
	}
	for name, want := range map[string]string{".ralph/guardrail_1.log": "red", "../.ralph/guardrail_1.log": "red", "prompt_1.md": "Write b."} {
		sum := sha256.Sum256([]byte(want))
		if got, err := source.Read(name, hex.EncodeToString(sum[:])); got != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	want := []stream.Item{stream.Text{Text: "done"}}
	got := source.Items(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"done"}]}}` + "\n")
	if diff := cmp.Diff(want, got[:min(1, len(got))]); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// A run without a journal has no page.
func TestNoJournal(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	if _, err := (recorded.Files{Home: folder.Run("none")}).Source(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want a missing file", err)
	}
}
