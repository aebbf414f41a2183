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
type Folder struct {
	Path string
	Key  string // the file that Lock locks; "lock" where empty

	held bool // by Hold, to whose caller the lock belongs
}

// FolderAbove is the folder of the project that dir is, or lies in.
func FolderAbove(dir string) Folder {
	for at := dir; ; at = filepath.Dir(at) {
		folder := Folder{Path: filepath.Join(at, ".ralph")}
		if info, err := os.Lstat(folder.Path); err == nil && info.IsDir() {
			return folder
		}
		if at == filepath.Dir(at) {
			return Folder{Path: filepath.Join(dir, ".ralph")}
		}
	}
}

// runs is where the runs lie, within the folder.
const runs = "runs"

// open is the folder, made where it is not there yet. A repository may bring a
// link of that name, and everything written would land where it leads.
func (f Folder) open() (*os.Root, error) {
	if err := f.Sound(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	return root, nil
}

// Sound is a fault where something else stands in the folder's place.
func (f Folder) Sound() error {
	info, err := os.Lstat(f.Path)
	switch {
	case err != nil: // there is none yet, or whoever opens it will say
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return fault.Usage(f.Path+" is a link", "put a folder in its place, or remove it", nil)
	case !info.IsDir():
		return fault.Usage(f.Path+" is no folder", "call it something else: settings and runs lie in .ralph", nil)
	}
	return nil
}

// New makes the folder of a run; it must not exist.
func (f Folder) New(id string) (Run, error) {
	root, err := f.open()
	if err != nil {
		return Run{}, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := root.MkdirAll(runs, 0o755); err != nil {
		return Run{}, cannotWrite(f.Path, err)
	}
	if err := ignoreAll(root); err != nil {
		return Run{}, cannotWrite(f.Path, err)
	}
	run := Run{ID: id, Path: filepath.Join(f.Path, runs, id)}
	switch err := root.Mkdir(filepath.Join(runs, id), 0o755); {
	case errors.Is(err, fs.ErrExist):
		return Run{}, fault.Usage("there is a run "+id+" already", "try again: a run is named after the moment it begins", err)
	case err != nil:
		return Run{}, cannotWrite(run.Path, err)
	}
	return run, nil
}

// ignoreAll keeps the folder out of git, unless its people have said what is to
// be kept out.
func ignoreAll(root *os.Root) error {
	if info, err := root.Lstat(".gitignore"); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return root.WriteFile(".gitignore", []byte("*\n!settings.json\n"), 0o644)
}

func cannotWrite(path string, err error) error {
	return fault.Usage("cannot write to "+path, "make the folder writable, with no links out of it, and see that the disk is not full", err)
}

// Unfinished is the newest run that wanted accepts, if it has not stopped: what
// lies behind a newer one that has is out of date. A journal that cannot be
// read is passed over: it must not keep a new run from beginning.
func (f Folder) Unfinished(wanted func(journal.Run) bool) (Run, bool) {
	for _, id := range slices.Backward(f.ids()) {
		run := Run{ID: id, Path: filepath.Join(f.Path, runs, id)}
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

// Readable is a fault where the journal of the newest run, or of the one that is
// named, cannot be read: whoever asks for it is not meant to get an older one.
func (f Folder) Readable(id string) error {
	ids, err := f.list()
	switch {
	case errors.As(err, new(*fault.Fault)):
		return err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fault.Usage("cannot read "+f.Path, "make it readable for you, with all that lies in it", err)
	}
	if id == "" && len(ids) > 0 {
		id = ids[len(ids)-1]
	}
	if !slices.Contains(ids, id) {
		return nil
	}
	run := Run{ID: id, Path: filepath.Join(f.Path, runs, id)}
	if _, err := run.Entries(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Usage("the run "+id+" cannot be told of: "+err.Error(),
			"somebody else has written to "+run.Journal()+"; name another run of .ralph/runs, or begin a new one: ralph run", nil)
	}
	return nil
}

// ids names the runs that can be read of.
func (f Folder) ids() []string {
	ids, _ := f.list()
	return ids
}

// list names the runs, oldest first. What is no folder of its own is none.
func (f Folder) list() (ids []string, err error) {
	if err := f.Sound(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	entries, err := fs.ReadDir(root.FS(), runs)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			ids = append(ids, entry.Name())
		}
	}
	return ids, nil
}

// Create makes or empties a file in the folder.
func (f Folder) Create(name string) (io.WriteCloser, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	file, err := root.Create(name)
	if err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	return file, nil
}

// Run is the folder of one run.
type Run struct {
	ID   string
	Path string
}

// File is the path of something in the run's folder.
func (r Run) File(name string) string { return filepath.Join(r.Path, name) }

const journalFile = "journal.jsonl"

// Journal is the path of the run's journal.
func (r Run) Journal() string { return r.File(journalFile) }

// openFile opens a file of the run's folder, and none that a link out of it
// leads to.
func (r Run) openFile(name string, flag int) (*os.File, error) {
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.OpenFile(name, flag, 0o644)
}

// Entries reads the journal without touching it.
func (r Run) Entries() ([]journal.Entry, error) {
	if info, err := os.Lstat(r.Journal()); err == nil && info.Mode().Type()&^fs.ModeSymlink != 0 {
		return nil, errors.New("read journal: it is not a plain file") // a pipe would hang the program
	}
	file, err := r.openFile(journalFile, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	entries, _, err := journal.Replay(data)
	return entries, err
}

// OpenJournal opens the journal for appending and gives what it holds. A last
// line that a crash tore is cut off; nothing else is ever rewritten.
func (r Run) OpenJournal() (*os.File, []journal.Entry, error) {
	file, err := r.openFile(journalFile, os.O_CREATE|os.O_RDWR|os.O_APPEND)
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
	file, err := r.openFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
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
