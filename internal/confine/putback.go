package confine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// ErrNotPutBack ends a run: what a command may not change stays as it left it.
var ErrNotPutBack = putback.ErrNotPutBack

// stopAfterBreach runs as next does, as long as all that those inside changed could be put
// back. Then nothing runs any more: what would be kept next is what they wrote.
func (w *Sandbox) stopAfterBreach(next sandbox.Exec) sandbox.Exec {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if err := w.recordBreach(nil); err != nil {
			return process.Result{}, err
		}
		res, err := next(ctx, c)
		if errors.Is(err, putback.ErrNotPutBack) {
			err = w.recordBreach(err)
		}
		return res, err
	}
}

func (w *Sandbox) recordBreach(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.breachError == nil {
		w.breachError = err
	}
	return w.breachError
}

func marks(home string) string { return filepath.Join(workspace.UserStateDir(home), "guards") }

// mark returns the texts of other commands, and keeps one while a command runs, where nothing inside can write to.
func (w *Sandbox) mark() (others [][]byte, keep func(text []byte) (done func(bool) error)) {
	if w.folders.home == "" {
		return nil, func([]byte) func(bool) error { return (*workspace.Mark)(nil).Close }
	}
	alone, _, _, err := workspace.OpenMark(marks(w.folders.home) + ".lock") // a command that begins now would not see ours
	list, _ := untrusted.ReadDir(marks(w.folders.home))
	for _, file := range list {
		if text, failed := workspace.ReadMark(filepath.Join(marks(w.folders.home), file.Name())); failed == nil {
			others = append(others, text)
		}
	}
	return others, func(text []byte) func(bool) error {
		defer alone.Close(false) //nolint:errcheck // it holds nothing
		if text == nil {
			return (*workspace.Mark)(nil).Close
		}
		return w.keepMark(text, err)
	}
}

func (w *Sandbox) keepMark(text []byte, err error) (done func(bool) error) {
	var due *workspace.Mark
	if err == nil {
		due, _, _, err = workspace.OpenMark(filepath.Join(marks(w.folders.home), rand.Text()))
	}
	if err == nil {
		err = errors.Join(due.Write(text), due.Share())
	}
	if err != nil {
		w.record(journal.Noted{
			What: "cannot record the files of .git and other guarded folders: " + errors.Join(err, due.Close(true)).Error(),
			Hint: "free some space: if ralph is killed, files that the agent adds there stay",
		})
		due = nil // others would wait for its text
	}
	return due.Close
}

// Recover moves aside what agents added where they may not, in commands that were killed with
// ralph. Until then git must run in none of these folders.
func Recover(home string) (moved []string, err error) {
	if !filepath.IsAbs(home) {
		return nil, nil
	}
	list, _ := untrusted.ReadDir(marks(home)) // inside a sandbox it cannot be read
	for _, file := range list {
		name := filepath.Join(marks(home), file.Name())
		due, text, only, failed := workspace.OpenMark(name)
		var names []string
		if failed == nil && only { // else its command still runs
			names, failed = putback.Recover(text)
		}
		if failed = errors.Join(failed, due.Close(only && failed == nil)); failed != nil {
			err = errors.Join(err, fault.Usage("cannot undo what a killed command left",
				fmt.Sprintf("inspect the folders that %s names, then remove that file", name), failed))
		}
		moved = append(moved, names...)
	}
	return moved, err
}
