package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func sheets(pairs ...string) []workspace.NewFile {
	var all []workspace.NewFile
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, workspace.NewFile{Path: pairs[i], Data: []byte(pairs[i+1])})
	}
	return all
}

// A sandboxed command can leave links to the folder of hooks. Nothing is written through one.
func TestNoNewFileGoesThroughALink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "hooks/x"), "")
	write(t, filepath.Join(dir, "ralph/prd.json"), finished)
	write(t, filepath.Join(dir, ".github/x"), "")
	for name, to := range map[string]string{"ralph-archive": "hooks", ".github/workflows": "../hooks"} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	if err := workspace.Scaffold(dir, sheets(".github/workflows/ralph.yml", "1")); err == nil || !strings.Contains(err.Error(), "a link is in its place, or above it") {
		t.Errorf("Scaffold = %v", err)
	}
	loop := must.Get(workspace.ReadLoop(workspace.Memory{Tree: dir}))(t)
	if _, err := loop.Archive("x", nil, nil); err == nil || !strings.Contains(err.Error(), "a link is in its place, or above it") {
		t.Errorf("Archive = %v", err)
	}
	if list, err := os.ReadDir(filepath.Join(dir, "hooks")); err != nil || len(list) != 1 {
		t.Errorf("hooks hold %v, %v", list, err)
	}
}

// Scaffold writes all files or none, and overwrites no file.
func TestScaffold(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, workspace.Scaffold(dir, sheets("a/b/c", "1", "d", "2")))
	if got := read(t, filepath.Join(dir, "a/b/c")) + read(t, filepath.Join(dir, "d")); got != "12" {
		t.Errorf("wrote %q", got)
	}
	err := workspace.Scaffold(dir, sheets("new", "3", "d", "3", "a/b/c", "3"))
	if err == nil || err.Error() != "files already exist: d, a/b/c; nothing was written" || fault.Exit(err) != fault.ExitUsage {
		t.Errorf("Scaffold = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil || read(t, filepath.Join(dir, "d")) != "2" {
		t.Error("something was written")
	}
	if err := workspace.Scaffold(filepath.Join(dir, "none"), nil); fault.Hint(err) != "name a folder with -d" {
		t.Errorf("without a project Scaffold = %v", err)
	}
	// A file in the place of a folder is noticed late. The written files are removed.
	if err := workspace.Scaffold(dir, sheets("new", "3", "d/e", "3")); fault.Hint(err) == "" {
		t.Errorf("Scaffold = %v, want a fault", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("half of it was left behind")
	}
}

// The settings are replaced atomically, and only in the project.
func TestSettings(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	if data, err := workspace.ReadSettings(dir, workspace.SettingsFile); data != nil || err != nil {
		t.Errorf("ReadSettings = %q, %v", data, err)
	}
	for _, text := range []string{"{}", `{"a": 1}`} {
		must.Do(t, workspace.WriteSettings(dir, []byte(text)))
		if data, err := workspace.ReadSettings(dir, workspace.SettingsFile); string(data) != text || err != nil {
			t.Errorf("ReadSettings = %q, %v; want %q", data, err, text)
		}
	}
	if there, _ := os.ReadDir(filepath.Join(dir, ".ralph")); len(there) != 1 {
		t.Errorf("found %v, want the settings alone", there)
	}
	linked := t.TempDir()
	must.Do(t, os.Symlink(out, filepath.Join(linked, ".ralph")))
	if err := workspace.WriteSettings(linked, []byte("{}")); fault.Hint(err) == "" {
		t.Errorf("WriteSettings = %v, want a fault", err)
	}
	if there, _ := os.ReadDir(out); len(there) > 0 {
		t.Errorf("found %v outside", there)
	}
}
