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

	"github.com/ralph-loop/ralph/internal/fault"
)

// Active is the marker .ralph-active, by which hooks inside an agent know that
// a loop over stories is running.
type Active struct {
	Timestamp     time.Time `json:"timestamp"`
	PID           int       `json:"pid"`
	MaxIterations int       `json:"max_iterations"`
	Mode          string    `json:"mode"`
}

// activeFile is the marker's name, in the project's folder.
const activeFile = ".ralph-active"

// Mark puts the marker into a project. One that a dead process left is
// replaced; one of a living process is a second run.
func Mark(project string, active Active) (remove func() error, err error) {
	path := filepath.Join(project, activeFile)
	if other, alive := ReadActive(project); alive && other.PID != active.PID {
		return nil, fault.Usage(fmt.Sprintf("a run is going on in this project already, by process %d", other.PID),
			"wait for it, or stop it first", nil)
	}
	data, err := json.Marshal(active)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", activeFile, err)
	}
	if err := renameio.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return nil, cannotWrite(path, err)
	}
	return func() error {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", activeFile, err)
		}
		return nil
	}, nil
}

// ReadActive reads the marker of a project, and tells whether the process that
// wrote it lives.
func ReadActive(project string) (active Active, alive bool) {
	data, err := os.ReadFile(filepath.Join(project, activeFile))
	if err != nil || json.Unmarshal(data, &active) != nil || active.PID <= 0 {
		return Active{}, false
	}
	err = syscall.Kill(active.PID, 0)
	return active, err == nil || errors.Is(err, syscall.EPERM)
}
