package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Task is the folder of a supervised task: by files in it an agent says how
// the task stands, and learns who else works on it.
type Task struct {
	Dir     string
	Project string
	ID      string
}

// The files by which an agent speaks.
const (
	doneFile = "DONE"
	waitFile = "WAIT_WITHOUT_RESTART"
)

// Runs is where the runs of the task lie. Their lock is their own: what is
// supervised may well be a ralph run in the very same folder.
func (t Task) Runs() Folder {
	return Folder{Path: filepath.Join(t.Dir, ".ralph"), Key: "supervise.lock"}
}

// Ready tells what keeps the folder from being one of a task.
func (t Task) Ready() error { return Stands(t.Dir, "--task-dir") }

// Stands is a fault where dir is no folder; flag is how another one is named.
func Stands(dir, flag string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Usage("no such folder: "+dir, "make it, or name another with "+flag, nil)
	case err != nil:
		return fault.Usage("cannot look into "+dir, "make it readable, or name another with "+flag, err)
	case !info.IsDir():
		return fault.Usage(dir+" is no folder", "name a folder with "+flag, nil)
	}
	return nil
}

// Done tells whether the task is done. That the file is there is all that is
// looked at, so a link may lead anywhere.
func (t Task) Done() (bool, error) {
	info, err := os.Stat(filepath.Join(t.Dir, doneFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", doneFile, err)
	case info.IsDir():
		return false, fault.Usage(doneFile+" is a directory", "remove it: what says that the task is done is a file", nil)
	}
	return true, nil
}

// Waits tells whether the file lies there that asks not to be started again.
func (t Task) Waits() bool {
	info, err := os.Lstat(filepath.Join(t.Dir, waitFile))
	return err == nil && !info.IsDir()
}

// Honour removes that file: it was obeyed.
func (t Task) Honour() error {
	err := os.Remove(filepath.Join(t.Dir, waitFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", waitFile, err)
	}
	return nil
}
