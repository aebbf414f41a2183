package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// actions returns all uses of files that an agent can replace.
func actions(t *testing.T, project string) map[string]func() error {
	t.Helper()
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	run := workspace.Run{ID: "r-1", Path: filepath.Join(folder.Path, "runs", "r-1")}
	memory := workspace.Memory{Tree: project}
	task := workspace.Task{Dir: project, Project: "p", ID: "t"}
	return map[string]func() error{
		"entries":  func() error { _, err := run.Entries(); return err },
		"journal":  func() error { file, _, err := run.OpenJournalFile(); return errors.Join(err, closed(file)) },
		"create":   func() error { file, err := run.Create("prompt_1.md"); return errors.Join(err, closed(file)) },
		"carry":    func() error { _, err := run.Pack(); return err },
		"readable": func() error { return folder.CheckJournal("") },
		"lock":     func() error { release, err := folder.Lock(); return errors.Join(err, done(release)) },
		"free":     folder.CheckUnlocked,
		"plan":     func() error { _, err := memory.ReadPlan(); return err },
		"log":      func() error { _, err := memory.Log(); return err },
		"prompt":   func() error { _, err := memory.Prompt(); return err },
		"write":    func() error { return memory.Write(plan.Plan{}, []byte("log")) },
		"settings": func() error { _, err := workspace.ReadSettings(project, workspace.SettingsFile); return err },
		"post":     func() error { return task.PostTask(workspace.Message{Type: "fact", At: time.Now()}) },
		"asked":    func() error { task.WaitMessage(0); return nil },
		"fingerprint": func() error {
			if workspace.Fingerprint(t.Context(), project) == "" {
				return errors.New("none")
			}
			return nil
		},
	}
}

type closer interface{ Close() error }

func closed(file closer) error {
	if file == nil || file == closer((*workspace.OpenJournal)(nil)) {
		return nil
	}
	return file.Close()
}

func done(release func() error) error {
	if release == nil {
		return nil
	}
	return release()
}

// A pipe in the place of any file does not block the program. Only actions that need
// the file return an error.
func TestNothingWaitsForAPipe(t *testing.T) {
	for name, want := range map[string]string{
		"other":                         "",
		".ralph":                        "carry create entries journal lock readable settings",
		".ralph/lock":                   "lock",
		".ralph/runs":                   "carry create entries journal readable",
		".ralph/runs/r-1":               "carry create entries journal",
		".ralph/runs/r-1/journal.jsonl": "carry entries journal readable",
		".ralph/runs/r-1/prompt_1.md":   "create",
		".ralph/settings.json":          "settings",
		".ralph-active":                 "",
		"ralph":                         "log plan prompt",
		"ralph/prd.json":                "plan",
		"ralph/progress.txt":            "log",
		"ralph/prompt.md":               "prompt",
		"TASK-MESSAGE-BUS.md":           "post",
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			for file, text := range map[string]string{
				".ralph/lock": "", ".ralph/runs/r-1/journal.jsonl": "", ".ralph/settings.json": "{}", ".ralph-active": "{}",
				"ralph/prd.json": `{"userStories":[{"id":"US-001","title":"t","acceptanceCriteria":["c"],"priority":1}]}`, "ralph/progress.txt": "log", "ralph/prompt.md": "do it", "TASK-MESSAGE-BUS.md": "",
			} {
				write(t, filepath.Join(project, file), text)
			}
			if err := errors.Join(os.RemoveAll(filepath.Join(project, name)), syscall.Mkfifo(filepath.Join(project, name), 0o666)); err != nil {
				t.Fatal(err)
			}
			all := actions(t, project)
			var failed []string
			for what, do := range all {
				if what != "write" && do() != nil { // a write replaces the pipe
					failed = append(failed, what)
				}
			}
			slices.Sort(failed)
			if got := strings.Join(failed, " "); got != want {
				t.Errorf("these failed: %s, want %s", got, want)
			}
			if err := all["write"](); err != nil {
				t.Errorf("the memory was not written: %v", err)
			}
		})
	}
}
