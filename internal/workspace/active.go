package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Active is the marker .ralph-active, by which hooks inside an agent know that
// a loop over stories is running.
type Active struct {
	Timestamp     time.Time `json:"timestamp"`
	PID           int       `json:"pid"`
	MaxIterations int       `json:"max_iterations"`
	Mode          string    `json:"mode"`
}

// activeFile is the marker's name, beside the folder of the runs.
const activeFile = ".ralph-active"

// marker is where the marker of the project lies that f belongs to.
func (f Folder) marker() string { return filepath.Join(filepath.Dir(f.Path), activeFile) }

// Hold locks the folder for all that a run does, and puts up its marker where
// there is one. Whoever holds the lock is the only one who runs, so that a
// marker that is found was left by the dead, whoever has its pid today. The
// folder it gives is the same, to be locked no more.
func (f Folder) Hold(active *Active) (held Folder, release func() error, err error) {
	unlock, err := f.Lock()
	if err != nil {
		return f, nil, err
	}
	held, release = f, unlock
	held.held = true
	if active == nil {
		return held, release, nil
	}
	if err := f.mark(*active); err != nil {
		return f, nil, errors.Join(err, unlock())
	}
	return held, func() error { return errors.Join(f.removeMarker(), unlock()) }, nil
}

func (f Folder) mark(active Active) error {
	data, err := json.Marshal(active)
	if err != nil {
		return fmt.Errorf("write %s: %w", activeFile, err)
	}
	if err := renameio.WriteFile(f.marker(), append(data, '\n'), 0o644); err != nil {
		return cannotWrite(f.marker(), err)
	}
	return nil
}

func (f Folder) removeMarker() error {
	if err := os.Remove(f.marker()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", activeFile, err)
	}
	return nil
}

// Unmark removes the marker of a run that was killed. One of a run that goes on
// stays, and so does one of a living process that is none of ours.
func (f Folder) Unmark() error {
	if _, err := os.Lstat(f.marker()); err != nil {
		return nil // there is none
	}
	release, err := f.Lock()
	if err != nil {
		return nil // somebody runs, and will remove it
	}
	defer release() //nolint:errcheck // nothing was written through it
	if _, alive := ReadActive(filepath.Dir(f.Path)); alive {
		return nil
	}
	return f.removeMarker()
}

// ReadActive reads the marker of a project, and tells whether the process that
// wrote it lives.
func ReadActive(project string) (active Active, alive bool) {
	data, err := untrusted.ReadFile(filepath.Join(project, activeFile), largest)
	if err != nil || json.Unmarshal(data, &active) != nil || active.PID <= 0 {
		return Active{}, false
	}
	err = syscall.Kill(active.PID, 0)
	return active, err == nil || errors.Is(err, syscall.EPERM)
}
