package workspace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Lock locks the folder, so that no second run starts. The system releases the lock when
// the process ends. The pid in the file is only for messages.
func (f Folder) Lock() (release func() error, err error) {
	if f.isLocked {
		return func() error { return nil }, nil
	}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	path := filepath.Join(f.Path, f.lockName())
	file, err := root.OpenFile(f.lockName(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	err = lockFile(file)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(lockedError(file), file.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file.Close, nil
}

// lockFile locks a file, and writes the pid of this process.
func lockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := file.WriteAt([]byte(pid), 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(pid)))
}

func (f Folder) lockName() string { return cmp.Or(f.LockName, "lock") }

// CheckUnlocked returns an error while another process has the lock. It writes nothing.
func (f Folder) CheckUnlocked() error {
	root, err := f.folder().Open()
	if err != nil {
		return nil // no run has started yet
	}
	defer root.Close() //nolint:errcheck // only a handle
	// In a sandbox the file is read-only.
	file, err := root.OpenFile(f.lockName(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil // Lock reports it
	}
	defer file.Close() //nolint:errcheck // only read; this releases the lock
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return lockedError(file)
	}
	return nil
}

func lockedError(file *os.File) error {
	holder := "another process"
	text, err := io.ReadAll(io.LimitReader(file, 20))
	pid, invalid := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && invalid == nil {
		holder = fmt.Sprintf("process %d", pid)
	}
	return fault.Usage("a run is already active in this project: "+holder, "wait for it, or stop it first", nil)
}

// Active is the content of the file .ralph-active, which tells hooks about an active run with stories.
type Active struct {
	Timestamp     time.Time `json:"timestamp"`
	PID           int       `json:"pid"`
	MaxIterations int       `json:"max_iterations"`
	Mode          string    `json:"mode"`
}

const activeFile = ".ralph-active"

func (f Folder) markerPath() string { return filepath.Join(filepath.Dir(f.Path), activeFile) }

// Hold locks the folder for a whole run, and writes the active file unless active is nil. It replaces an existing one:
// only the holder of the lock runs, so its process is dead. Lock of the returned folder does nothing.
func (f Folder) Hold(active *Active) (locked Folder, release func() error, err error) {
	unlock, err := f.Lock()
	if err != nil {
		return f, nil, err
	}
	locked = f
	locked.isLocked = true
	if active == nil {
		return locked, unlock, nil
	}
	if err := f.writeMarker(*active); err != nil {
		return f, nil, errors.Join(err, unlock())
	}
	return locked, func() error { return errors.Join(f.removeMarker(), unlock()) }, nil
}

func (f Folder) writeMarker(active Active) error {
	data, _ := json.Marshal(active) // texts and numbers have no error
	err := f.projectFolder().Do(func(project *untrusted.Root) error {
		return renameio.WriteFile(activeFile, append(data, '\n'), 0o644, renameio.WithRoot(project.Root))
	})
	if err != nil {
		return cannotWrite(f.markerPath(), err)
	}
	return nil
}

// InBox is the mode of a run whose agent works in a box, and may not see its process.
const InBox = "box"

// MarkBox writes the active file of a project into a box of it, if there is one.
func MarkBox(project, box string) error {
	active, _ := ReadActive(project)
	if active.PID == 0 {
		return nil
	}
	active.Mode = InBox
	return Folder{Path: filepath.Join(box, ".ralph")}.writeMarker(active)
}

func (f Folder) projectFolder() untrusted.Folder {
	return untrusted.Folder{Path: filepath.Dir(f.Path)}
}

func (f Folder) removeMarker() error {
	if err := f.projectFolder().Remove(activeFile); err != nil {
		return fmt.Errorf("remove %s: %w", activeFile, err)
	}
	return nil
}

// ReadActive returns the active file of a project, and whether its process is alive.
func ReadActive(project string) (active Active, alive bool) {
	data, err := untrusted.ReadFile(filepath.Join(project, activeFile), maxAgentFile)
	if err != nil || json.Unmarshal(data, &active) != nil || active.PID <= 0 {
		return Active{}, false
	}
	err = syscall.Kill(active.PID, 0)
	return active, err == nil || errors.Is(err, syscall.EPERM)
}
