package workspace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/journal"
)

// Ledger is a journal that is being written. It remembers what it wrote: an
// agent that tidies up with "git clean -x" takes the file with it, and without
// it nobody could go on with the run.
type Ledger struct {
	run  Run
	file *os.File
	held []byte
}

// OpenLedger opens the journal as OpenJournal does.
func (r Run) OpenLedger() (*Ledger, []journal.Entry, error) {
	file, entries, held, err := r.openSound()
	if err != nil {
		return nil, nil, err
	}
	return &Ledger{run: r, file: file, held: held}, entries, nil
}

// Write appends to the file.
func (l *Ledger) Write(line []byte) (int, error) {
	n, err := l.file.Write(line)
	l.held = append(l.held, line[:n]...)
	return n, err
}

// Sync makes safe what was written.
func (l *Ledger) Sync() error { return l.file.Sync() }

// Close closes the file.
func (l *Ledger) Close() error { return l.file.Close() }

// Mend puts the journal back where somebody has removed, cut or added to it,
// and tells whether that was so.
func (l *Ledger) Mend() (mended bool, err error) {
	if l.whole() {
		return false, nil
	}
	root, err := Folder{Path: filepath.Dir(filepath.Dir(l.run.Path))}.open()
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
	_, err = io.Copy(file, bytes.NewReader(l.held))
	if err := errors.Join(err, file.Sync(), syncDir(l.run.Path)); err != nil {
		return false, errors.Join(cannotWrite(l.run.Path, err), file.Close())
	}
	old := l.file
	l.file = file
	return true, old.Close()
}

// whole tells whether the file is where it was, and as long.
func (l *Ledger) whole() bool {
	ours, err := l.file.Stat()
	if err != nil || ours.Size() != int64(len(l.held)) {
		return false
	}
	there, err := os.Lstat(l.run.Journal())
	return err == nil && os.SameFile(ours, there)
}
