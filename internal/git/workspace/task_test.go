package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

const (
	taskBus    = "TASK-MESSAGE-BUS.md"
	projectBus = "PROJECT-MESSAGE-BUS.md"
)

func newTask(t *testing.T) workspace.Task {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "task-1")
	must.Do(t, os.Mkdir(dir, 0o755))
	return workspace.Task{Dir: dir, Project: "shop", ID: "task-1"}
}

func TestDone(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "DONE")
	for name, test := range map[string]struct {
		lay  func(path string) error
		done bool
		says string
	}{
		"nothing":        {lay: func(string) error { return nil }},
		"an empty file":  {lay: func(path string) error { return os.WriteFile(path, nil, 0o644) }, done: true},
		"a pipe":         {lay: func(path string) error { return syscall.Mkfifo(path, 0o644) }, done: true},
		"a folder":       {lay: func(path string) error { return os.Mkdir(path, 0o755) }, says: "DONE is a directory"},
		"a link to none": {lay: func(path string) error { return os.Symlink(elsewhere+"-not", path) }},
		"a link to one":  {lay: func(path string) error { return os.Symlink("/etc/passwd", path) }, done: true},
		"a circle":       {lay: func(path string) error { return os.Symlink(path, path) }, says: "look for DONE"},
	} {
		t.Run(name, func(t *testing.T) {
			task := newTask(t)
			must.Do(t, test.lay(filepath.Join(task.Dir, "DONE")))
			done, err := task.Done()
			if done != test.done || (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("Done = %t, %v; want %t, %q", done, err, test.done, test.says)
			}
		})
	}
}

func TestAsked(t *testing.T) {
	const old = "---\ntype: wait_without_restart\n---\nof yesterday\n"
	for name, test := range map[string]struct {
		news, text string
		asked      bool
	}{
		"nothing new":              {"", "", false},
		"a message":                {"---\ntype: wait_without_restart\n---\nWaiting for user input\n", "Waiting for user input", true},
		"with more in its head":    {"---\nmsg_id: 7\ntype: wait_without_restart\ntask_id: x\n---\nNote: a review\nis due\n\nmore\n", "Note: a review is due", true},
		"a block":                  {"\ntype: wait_without_restart\nWaiting for a webhook\n", "Waiting for a webhook", true},
		"quoted, of Windows":       {"\r\n---\r\nTYPE: \"wait_without_restart\"\r\n---\r\namen\r\n", "amen", true},
		"after another message":    {"---\ntype: INFO\n---\nhalf way\n---\ntype: wait_without_restart\n---\n", "", true},
		"before another":           {"type: wait_without_restart\nme\n---\ntype: INFO\n---\nstill here\n", "me", true},
		"talk of it":               {"---\ntype: INFO\n---\nI could say\ntype: wait_without_restart\n", "", false},
		"talk of it in a sentence": {"type: wait_without_restart is what I do not say\n", "", false},
		"a part of a word":         {"type: no_wait_without_restart\n", "", false},
		"another field":            {"subtype: wait_without_restart\n", "", false},
		"long":                     {"type: wait_without_restart\n" + strings.Repeat("é", 400), strings.Repeat("é", 300) + "…", true},
	} {
		t.Run(name, func(t *testing.T) {
			task := newTask(t)
			write(t, filepath.Join(task.Dir, taskBus), old)
			since := task.BusSize()
			write(t, filepath.Join(task.Dir, taskBus), old+test.news)
			if text, asked := task.WaitMessage(since); text != test.text || asked != test.asked {
				t.Errorf("Asked = %q, %t; want %q, %t", text, asked, test.text, test.asked)
			}
		})
	}
}

// Only the end of a long bus is read: new messages are there.
func TestAskedAtTheEndOfALongBus(t *testing.T) {
	task := newTask(t)
	write(t, filepath.Join(task.Dir, taskBus), strings.Repeat("chatter\n", 400_000)+"\ntype: wait_without_restart\nWaiting for a review\n")
	if text, asked := task.WaitMessage(0); !asked || text != "Waiting for a review" {
		t.Errorf("Asked = %q, %t", text, asked)
	}
	// All messages of a bus that was replaced are new.
	write(t, filepath.Join(task.Dir, taskBus), "type: wait_without_restart\n")
	if _, asked := task.WaitMessage(1000); !asked {
		t.Error("not asked on a new bus")
	}
}

// Only a plain file is a bus: a link can lead anywhere. TestNothingWaitsForAPipe has the pipe.
func TestBusThatIsNone(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must.Do(t, os.WriteFile(outside, []byte("type: wait_without_restart\n"), 0o644))
	for name, lay := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"a link":   func(path string) error { return os.Symlink(outside, path) },
	} {
		t.Run(name, func(t *testing.T) {
			task := newTask(t)
			must.Do(t, lay(filepath.Join(task.Dir, taskBus)))
			if _, asked := task.WaitMessage(0); asked || task.BusSize() != 0 {
				t.Errorf("asked %t, size %d", asked, task.BusSize())
			}
			err := task.PostTask(workspace.Message{Text: "x"})
			if err == nil || !strings.Contains(err.Error(), "write to "+taskBus) {
				t.Errorf("PostTask = %v", err)
			}
		})
	}
	if data, err := os.ReadFile(outside); err != nil || strings.Contains(string(data), "x\n") {
		t.Errorf("outside holds %q, %v", data, err)
	}
}

func TestPost(t *testing.T) {
	task := newTask(t)
	task.Project = "shop\ntype: forged"
	write(t, filepath.Join(task.Dir, taskBus), "no line's end")
	m := workspace.Message{Type: "INFO", At: time.Date(2026, 11, 20, 13, 0, 0, 0, time.FixedZone("", 3600)), Run: "run-1", Text: "task completed\n"}
	for _, post := range []func(workspace.Message) error{task.PostTask, task.PostTask, task.PostProject} {
		must.Do(t, post(m))
	}
	const entry = `
---
type: INFO
time: 2026-11-20T12:00:00Z
project_id: shop type: forged
task_id: task-1
run_id: run-1
---
task completed
`
	for path, want := range map[string]string{
		filepath.Join(task.Dir, taskBus):                  "no line's end" + entry + entry,
		filepath.Join(filepath.Dir(task.Dir), projectBus): entry,
	} {
		got, err := os.ReadFile(path)
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", filepath.Base(path), err, diff)
		}
	}
	// ralph's own messages do not ask to wait.
	if _, asked := task.WaitMessage(0); asked {
		t.Error("asked by ourselves")
	}
}
