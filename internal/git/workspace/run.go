package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Run is the folder of one run.
type Run struct {
	ID   string
	Path string

	in Folder
}

func (r Run) folder() untrusted.Folder {
	return untrusted.Folder{Path: r.Path}
}

// Project returns the folder whose run it is.
func (r Run) Project() string { return filepath.Dir(r.in.Path) }

// File returns the path of a file in the run's folder.
func (r Run) File(name string) string { return filepath.Join(r.Path, name) }

// JournalFile is the name of a run's journal.
const JournalFile = "journal.jsonl"

// PageFile is the HTML page about a run, generated from its other files.
const PageFile = "report.html"

const maxJournalRead = 1 << 30

// Journal returns the path of the run's journal.
func (r Run) Journal() string { return r.File(JournalFile) }

func (r Run) openFile(name string, flag int) (file *os.File, err error) {
	err = r.folder().Do(func(root *untrusted.Root) error {
		file, err = root.OpenFile(name, flag, 0o644)
		return err
	})
	return file, err
}

// Entries returns the entries of the journal.
func (r Run) Entries() (entries []journal.Entry, err error) {
	err = r.replay(func(entry journal.Entry) { entries = append(entries, entry) })
	return entries, err
}

// replay calls do for each line of the journal, which can be too large to keep all entries.
func (r Run) replay(do func(journal.Entry)) error {
	var broken error
	err := r.folder().Do(func(root *untrusted.Root) error {
		file, err := root.OpenPlain(JournalFile)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // only read
		text, err := untrusted.Limit(file, maxJournalRead)
		if err != nil {
			return err
		}
		_, broken = journal.Each(text, func(_ []byte, entry journal.Entry) { do(entry) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return broken
}

// cutTornLine removes an incomplete last line, and returns the entries and the size.
func cutTornLine(file *os.File) (entries []journal.Entry, size int64, err error) {
	data, err := untrusted.ReadAll(file, maxJournalRead)
	if err != nil {
		return nil, 0, fmt.Errorf("read journal: %w", err)
	}
	entries, size, err = journal.Replay(data)
	if err != nil {
		return nil, 0, err
	}
	if size < int64(len(data)) {
		if err := file.Truncate(size); err != nil {
			return nil, 0, fmt.Errorf("cut off torn line: %w", err)
		}
	}
	return entries, size, nil
}

// sync writes the folder to disk, so that a new file exists after a crash.
func (r Run) sync() error {
	err := r.folder().Do(func(root *untrusted.Root) error {
		handle, err := root.Root.Open(".")
		if err != nil {
			return err
		}
		return errors.Join(handle.Sync(), handle.Close())
	})
	if err != nil {
		return fmt.Errorf("sync %s: %w", r.Path, err)
	}
	return nil
}

// CreateLinked creates or empties a file in the run's folder. If it is one of those that people look for beside the
// runs, a link there leads to it.
func (r Run) CreateLinked(name string) (io.WriteCloser, error) {
	file, err := r.Create(name)
	if err != nil || !hasLink(name) {
		return file, err
	}
	_ = r.in.within(func(root *untrusted.Root) error { // some file systems have no links
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		return root.Symlink(filepath.Join(runs, r.ID, name), name)
	})
	return file, nil
}

// ProgressFile is the history of a run by its iterations.
const ProgressFile = "progress.md"

func hasLink(name string) bool {
	isLog, _ := filepath.Match("guardrail_*.log", name) // it is well formed
	return isLog || name == ProgressFile
}

const logPrefix = "guardrail_" // of files with the output of a check

// Create creates or empties a file in the run's folder.
func (r Run) Create(name string) (io.WriteCloser, error) {
	file, err := r.openFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return nil, cannotWrite(r.Path, err)
	}
	return file, nil
}

// WriteFile creates or replaces a file in the run's folder.
func (r Run) WriteFile(name string, data []byte) error {
	file, err := r.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Exists reports whether the run's folder has a file of that name.
func (r Run) Exists(name string) bool {
	_, err := os.Lstat(r.File(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenJournal is a journal that is open for writing.
type OpenJournal struct {
	file *os.File
	size int64
}

// OpenJournalFile opens the journal for appending, and cuts off an incomplete last line.
func (r Run) OpenJournalFile() (*OpenJournal, []journal.Entry, error) {
	file, err := r.openFile(JournalFile, os.O_CREATE|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, nil, cannotWrite(r.Path, err)
	}
	entries, size, err := cutTornLine(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	if err := r.sync(); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	r.mark()
	return &OpenJournal{file: file, size: size}, entries, nil
}

// Write appends a line. If only a part could be written, it removes that part.
func (l *OpenJournal) Write(line []byte) (int, error) {
	n, err := l.file.Write(line)
	if err != nil && l.file.Truncate(l.size) == nil {
		n = 0
	}
	l.size += int64(n)
	return n, err
}

// Sync writes the lines to disk.
func (l *OpenJournal) Sync() error { return l.file.Sync() }

// Close closes the file.
func (l *OpenJournal) Close() error { return l.file.Close() }
