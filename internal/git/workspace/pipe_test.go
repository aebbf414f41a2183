package workspace_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// A pipe in the place of a file that an agent can replace is an error: no read of it waits for a writer.
func TestNothingWaitsForAPipe(t *testing.T) {
	project := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	run := must.Get(folder.NewRun("r-1"))(t)
	pipe := func(name string) {
		t.Helper()
		write(t, filepath.Join(project, filepath.Dir(name), "beside"), "")
		must.Do(t, syscall.Mkfifo(filepath.Join(project, name), 0o666))
	}
	for _, name := range []string{
		".ralph/lock", ".ralph/runs/r-1/journal.jsonl", ".ralph/runs/r-1/prompt_1.md", ".ralph/settings.json",
		"ralph/prd.json", "ralph/progress.txt", "ralph/prompt.md", "TASK-MESSAGE-BUS.md",
	} {
		pipe(name)
	}
	memory := workspace.Memory{Tree: project}
	task := workspace.Task{Dir: project, Project: "p", ID: "t"}
	for name, do := range map[string]func() error{
		"Entries":         func() error { _, err := run.Entries(); return err },
		"OpenJournalFile": func() error { _, _, err := run.OpenJournalFile(); return err },
		"Create":          func() error { _, err := run.Create("prompt_1.md"); return err },
		"Pack":            func() error { _, err := run.Pack(); return err },
		"CheckJournal":    func() error { return folder.CheckJournal("") },
		"Lock":            func() error { _, err := folder.Lock(); return err },
		"ReadPlan":        func() error { _, err := memory.ReadPlan(); return err },
		"Log":             func() error { _, err := memory.Log(); return err },
		"Prompt":          func() error { _, err := memory.Prompt(); return err },
		"ReadSettings":    func() error { _, err := workspace.ReadSettings(project, workspace.SettingsFile); return err },
		"PostTask":        func() error { return task.PostTask(workspace.Message{Type: "fact"}) },
	} {
		if do() == nil {
			t.Errorf("%s took a pipe for a file", name)
		}
	}
	_, asked := task.WaitMessage(0)
	if err := errors.Join(folder.CheckUnlocked(), memory.WriteLog("log")); asked || err != nil {
		t.Errorf("asked by a pipe: %t, %v", asked, err)
	}
	if workspace.Fingerprint(t.Context(), project) == "" {
		t.Error("a folder with a pipe has no fingerprint")
	}
}
