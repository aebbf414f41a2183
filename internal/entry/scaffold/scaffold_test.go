package scaffold_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/scaffold"
	"github.com/ralph-loop/ralph/internal/git/workspace"
)

var now = time.Date(2026, 11, 20, 23, 30, 0, 0, time.FixedZone("", -8*60*60))

// newProject returns a folder with files, at the top of a repository.
func newProject(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// All files are written, or none.
func TestNothingIsOverwritten(t *testing.T) {
	for name, c := range map[string]struct {
		files  scaffold.Files
		before map[string]string
		want   string
	}{
		"a file is there":     {scaffold.Files{PRD: true}, map[string]string{"ralph/progress.txt": "mine"}, "files already exist: ralph/progress.txt"},
		"git refuses a name":  {scaffold.Files{PRD: true, Name: "a feature"}, nil, "invalid feature name"},
		"a workflow is there": {scaffold.Files{GitHub: true}, map[string]string{".github/workflows/ralph.yml": "mine"}, "files already exist: .github/workflows/ralph.yml"},
	} {
		c.files.ProjectDir = newProject(t, c.before)
		err := c.files.Write(now, new(bytes.Buffer), new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		var files []string
		err = filepath.WalkDir(c.files.ProjectDir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil || len(files) != len(c.before) {
			t.Errorf("%s: there is %q, want only what was there (%v)", name, files, err)
		}
		for file, text := range c.before {
			if got := read(t, c.files.ProjectDir, file); got != text {
				t.Errorf("%s: %s has %q now", name, file, got)
			}
		}
	}
}

// What a loop began with is read from its log: a shell empties the PRD.
func TestBegun(t *testing.T) {
	for feature, branch := range map[string]string{"login": "ralph/login", "": ""} {
		dir := newProject(t, nil)
		if err := (scaffold.Files{ProjectDir: dir, PRD: true, Name: feature}).Write(now, new(bytes.Buffer), new(bytes.Buffer)); err != nil {
			t.Fatal(err)
		}
		log := read(t, dir, "ralph/progress.txt")
		if !strings.Contains(log, "Started: 2026-11-20") { // where the user is, not in Greenwich
			t.Errorf("the log has another day:\n%s", log)
		}
		got := scaffold.Begun(dir)
		if got.Project != filepath.Base(dir) || got.BranchName != branch {
			t.Errorf("%q began with %s on %s", feature, got.Project, got.BranchName)
		}
	}
	if got := scaffold.Begun(t.TempDir()); got.Project != "" || got.BranchName != "" {
		t.Errorf("an empty folder began with %+v", got)
	}
}

// Without questions the settings have what the project's files suggest, and replace none.
func TestAskWithoutQuestions(t *testing.T) {
	dir := newProject(t, map[string]string{"go.mod": "module example.com/shop\n", "shop_test.go": "package shop\n"})
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	files := scaffold.Files{ProjectDir: dir, Yes: true, Agent: "codex"}
	if err := files.Ask(t.Context(), scaffold.Terminal{Out: out}); err != nil {
		t.Fatal(err)
	}
	written := read(t, dir, workspace.SettingsFile)
	settings, err := config.ReadSettings(config.File{Name: workspace.SettingsFile, Data: []byte(written)})
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, g := range settings.Guardrails {
		commands = append(commands, g.Command)
	}
	if d := cmp.Diff([]string{"go vet ./...", "go test ./..."}, commands); d != "" || settings.Agent.Command != "codex" {
		t.Errorf("agent %q, guardrails (-want +got):\n%s", settings.Agent.Command, d)
	}
	if err := files.Ask(t.Context(), scaffold.Terminal{Out: out}); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a second time: %v", err)
	}
	if now := read(t, dir, workspace.SettingsFile); now != written {
		t.Errorf("the settings were replaced:\n%s", now)
	}
}
