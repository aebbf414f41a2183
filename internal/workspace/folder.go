// Package workspace keeps the files of a project and of its runs: the journal,
// logs, locks, and the memory that an agent reads. It follows no links out of
// the folder it was given, caps what it reads, and interprets nothing but the
// plan.
package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Folder is a project's .ralph folder.
type Folder struct{ Path string }

// runs is where the runs lie.
func (f Folder) runs() string { return filepath.Join(f.Path, "runs") }

// New makes the folder of a run; it must not exist.
func (f Folder) New(id string) (Run, error) {
	if err := os.MkdirAll(f.runs(), 0o755); err != nil {
		return Run{}, cannotWrite(f.Path, err)
	}
	if err := os.WriteFile(filepath.Join(f.Path, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return Run{}, cannotWrite(f.Path, err)
	}
	run := Run{ID: id, Path: filepath.Join(f.runs(), id)}
	if err := os.Mkdir(run.Path, 0o755); err != nil {
		return Run{}, cannotWrite(run.Path, err)
	}
	return run, nil
}

func cannotWrite(path string, err error) error {
	return fault.Usage("cannot write to "+path, "make the folder writable, or see that the disk is not full", err)
}

// Unfinished is the newest run that wanted accepts and that has not stopped,
// with what its journal says. A journal that cannot be read is passed over:
// it must not keep a new run from beginning.
func (f Folder) Unfinished(wanted func(journal.Run) bool) (Run, bool) {
	names, err := os.ReadDir(f.runs())
	if err != nil {
		return Run{}, false
	}
	for _, name := range slices.Backward(names) {
		run := Run{ID: name.Name(), Path: filepath.Join(f.runs(), name.Name())}
		entries, err := run.Entries()
		if err != nil || len(entries) == 0 {
			continue
		}
		if state := journal.Fold(journal.Run{}, entries...); wanted(state) {
			return run, state.Stop == nil
		}
	}
	return Run{}, false
}

// Run is the folder of one run.
type Run struct {
	ID   string
	Path string
}

// File is the path of something in the run's folder.
func (r Run) File(name string) string { return filepath.Join(r.Path, name) }

// Journal is the path of the run's journal.
func (r Run) Journal() string { return r.File("journal.jsonl") }

// Entries reads the journal without touching it.
func (r Run) Entries() ([]journal.Entry, error) {
	data, err := os.ReadFile(r.Journal())
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	entries, _, err := journal.Replay(data)
	return entries, err
}

// OpenJournal opens the journal for appending and gives what it holds. A last
// line that a crash tore is cut off; nothing else is ever rewritten.
func (r Run) OpenJournal() (*os.File, []journal.Entry, error) {
	file, err := os.OpenFile(r.Journal(), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, cannotWrite(r.Path, err)
	}
	entries, err := mend(file)
	if err == nil {
		err = syncDir(r.Path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, entries, nil
}

func mend(file *os.File) ([]journal.Entry, error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	entries, sound, err := journal.Replay(data)
	if err != nil {
		return nil, err
	}
	if sound < int64(len(data)) {
		if err := file.Truncate(sound); err != nil {
			return nil, fmt.Errorf("cut off torn line: %w", err)
		}
	}
	return entries, nil
}

// syncDir makes the names in dir safe, so that a file once made is still there
// after a crash.
func syncDir(dir string) error {
	handle, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	defer handle.Close() //nolint:errcheck // opened to be synced, nothing is written through it
	if err := handle.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// Create makes or empties a file in the run's folder.
func (r Run) Create(name string) (io.WriteCloser, error) {
	file, err := os.OpenFile(r.File(name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, cannotWrite(r.Path, err)
	}
	return file, nil
}

// Exists tells whether something of that name is in the run's folder.
func (r Run) Exists(name string) bool {
	_, err := os.Lstat(r.File(name))
	return !errors.Is(err, fs.ErrNotExist)
}
