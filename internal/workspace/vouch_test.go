package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/workspace"
)

// A journal that a checkout puts in the place of one that began here is another file.
func TestVouched(t *testing.T) {
	dir := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(dir, "work", ".ralph"), Own: filepath.Join(dir, "home", "state")}
	first, err := folder.New("run-1")
	if err != nil {
		t.Fatal(err)
	}
	if other := (workspace.Folder{Path: folder.Path}); !folder.Vouched(first) || other.Vouched(first) || folder.Vouched(workspace.Run{}) {
		t.Errorf("vouched: %t; without a folder of one's own: %t", folder.Vouched(first), other.Vouched(first))
	}
	text, err := os.ReadFile(first.Journal())
	if err == nil {
		err = os.Remove(first.Journal())
	}
	if err == nil {
		err = os.WriteFile(first.Journal(), text, 0o600)
	}
	if err != nil || folder.Vouched(first) {
		t.Errorf("another file is vouched for: %t, %v", folder.Vouched(first), err)
	}
	second, err := folder.Unpack("run-2", map[string][]byte{workspace.JournalFile: text})
	if err != nil || !folder.Vouched(second) || folder.Vouched(first) {
		t.Errorf("unpacked: %t, the older one %t, %v", folder.Vouched(second), folder.Vouched(first), err)
	}
}
