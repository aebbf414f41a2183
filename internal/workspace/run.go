package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Run is the folder of one run.
type Run struct {
	ID   string
	Path string

	in       Folder
	accepted bool // see Accept
}

func (r Run) folder() untrusted.Folder {
	return untrusted.Folder{Path: r.Path, Straight: r.in.Straight}
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
	err = r.replay(func(_ []byte, entry journal.Entry) { entries = append(entries, entry) })
	return entries, err
}

// replay calls do for each line of the journal, which can be too large to keep all entries.
func (r Run) replay(do func(line []byte, entry journal.Entry)) error {
	var broken error
	err := r.folder().Do(func(root *untrusted.Root) error {
		file, err := root.OpenPlain(JournalFile)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // only read
		text, err := untrusted.Limit(file, maxJournalRead)
		if err == nil {
			_, broken = journal.Each(text, do)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return broken
}

// cutTornLine removes an incomplete last line, and returns the entries and the text.
func cutTornLine(file *os.File) ([]journal.Entry, []byte, error) {
	data, err := untrusted.ReadAll(file, maxJournalRead)
	if err != nil {
		return nil, nil, fmt.Errorf("read journal: %w", err)
	}
	entries, sound, err := journal.Replay(data)
	if err != nil {
		return nil, nil, err
	}
	if sound < int64(len(data)) {
		if err := file.Truncate(sound); err != nil {
			return nil, nil, fmt.Errorf("cut off torn line: %w", err)
		}
	}
	return entries, data[:sound:sound], nil
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

// CreateLinked creates or empties a file in the run's folder. If it is one of those that people look for beside the runs,
// a link there leads to it.
func (r Run) CreateLinked(name string) (io.WriteCloser, error) {
	file, err := r.Create(name)
	if err == nil && hasLink(name) {
		_ = r.in.within(func(root *untrusted.Root) error { // some file systems have no links
			return errors.Join(root.RemoveAll(name), root.Symlink(filepath.Join(runs, r.ID, name), name))
		})
	}
	return file, err
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

// CopyFrom copies what a file in the run's folder has from an offset on, and returns the new offset. A file that is
// shorter was made anew: it is copied from its beginning.
func (r Run) CopyFrom(name string, offset int64, to io.Writer) (int64, error) {
	err := r.folder().Do(func(root *untrusted.Root) error {
		file, err := root.OpenPlain(name)
		if err != nil {
			return err
		}
		defer file.Close() //nolint:errcheck // only read
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if info.Size() < offset {
			offset = 0
		}
		n, err := io.Copy(to, io.NewSectionReader(file, offset, info.Size()-offset))
		offset += n
		return err
	})
	return offset, err
}

// Exists reports whether the run's folder has a file of that name.
func (r Run) Exists(name string) bool {
	_, err := os.Lstat(r.File(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenJournal is a journal that is open for writing. It keeps its content in memory, to
// restore the file if an agent removes it, for example with "git clean -x".
type OpenJournal struct {
	run     Run
	file    *os.File
	content []byte
	digest  *digest
}

// OpenJournalFile opens the journal for appending, and cuts off an incomplete last line.
// It refuses a journal that ralph did not write here: it would get a digest.
func (r Run) OpenJournalFile() (*OpenJournal, []journal.Entry, error) {
	file, err := r.openFile(JournalFile, os.O_CREATE|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, nil, cannotWrite(r.Path, err)
	}
	entries, text, err := cutTornLine(file)
	if err == nil {
		err = r.sync()
	}
	if err == nil && len(text) > 0 && r.in.StateDir != "" && !r.accepted && !r.hasDigestOf(text) {
		err = UnvouchedError(r.ID)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return &OpenJournal{run: r, file: file, content: text, digest: r.newDigest(text)}, entries, nil
}

// Write appends a line. If only a part could be written, it removes that part.
func (l *OpenJournal) Write(line []byte) (int, error) {
	l.digest.add(line)
	n, err := l.file.Write(line)
	if err != nil && l.file.Truncate(int64(len(l.content))) == nil {
		n = 0
	}
	l.content = append(l.content, line[:n]...)
	if err != nil {
		l.digest.reset(l.content)
	}
	return n, err
}

// Sync writes the lines to disk.
func (l *OpenJournal) Sync() error { return l.file.Sync() }

// Close closes the file.
func (l *OpenJournal) Close() error { return errors.Join(l.file.Close(), l.digest.close()) }

// Restore rewrites a journal that was removed or changed, and reports whether it did.
func (l *OpenJournal) Restore() (restored bool, err error) {
	if l.isUnchanged() {
		return false, nil
	}
	root, err := l.run.in.open()
	if err != nil {
		return false, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	home := filepath.Join(runs, l.run.ID)
	if err := errors.Join(ignoreAll(root), root.MkdirAll(home, 0o755), root.RemoveAll(filepath.Join(home, JournalFile))); err != nil {
		return false, cannotWrite(l.run.Path, err)
	}
	file, err := root.OpenFile(filepath.Join(home, JournalFile), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return false, cannotWrite(l.run.Path, err)
	}
	_, err = io.Copy(file, bytes.NewReader(l.content))
	if err := errors.Join(err, file.Sync(), l.run.sync()); err != nil {
		return false, errors.Join(cannotWrite(l.run.Path, err), file.Close())
	}
	old := l.file
	l.file = file
	return true, old.Close()
}

// isUnchanged reports whether the file still has its path and content.
func (l *OpenJournal) isUnchanged() bool {
	ours, err := l.file.Stat()
	if err != nil || !isEqual(io.NewSectionReader(l.file, 0, math.MaxInt64), bytes.NewReader(l.content)) {
		return false
	}
	there, err := os.Lstat(l.run.Journal())
	return err == nil && os.SameFile(ours, there)
}
