// Package workspace owns the files of a project and of its runs: the journal,
// logs, locks, and the memory that an agent reads. It follows no links out of
// its folder, limits what it reads, and interprets only the plan and the
// journal.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Folder is a project's .ralph folder.
type Folder struct {
	Path     string
	LockName string // the file that Lock locks; "lock" where empty
	StateDir string // a folder elsewhere, in which only this user writes; empty: no run is Vouched for

	isLocked bool // by Hold, to whose caller the lock belongs
}

// FindFolder is the folder of the project that dir is, or lies in.
func FindFolder(dir string) Folder {
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

const runs = "runs"

// open is the folder, made where it is not there yet. A repository may bring a
// link of that name, and everything written would land where it leads.
func (f Folder) open() (*untrusted.Root, error) {
	if err := f.CheckPath(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	root, err := untrusted.OpenRoot(f.Path)
	if err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	return root, nil
}

// RemoveFiles removes what lies in the folder under these names.
func (f Folder) RemoveFiles(names ...string) error {
	if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range names {
		if err := root.RemoveAll(name); err != nil {
			return cannotWrite(f.Path, err)
		}
	}
	return nil
}

// CheckPath is a fault where something else stands in the folder's place.
func (f Folder) CheckPath() error {
	info, err := os.Lstat(f.Path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fault.Usage(f.Path+" is a link", "put a folder in its place, or remove it", nil)
	case err == nil && !info.IsDir():
		return fault.Usage(f.Path+" is no folder", "call it something else: settings and runs lie in .ralph", nil)
	}
	return nil // if it is missing or unreadable, opening it says so
}

// RunName is what a run is called that begins at a moment: by their names, runs
// are in the order in which they began.
func RunName(what string, at time.Time) string {
	return what + "-" + at.UTC().Format("20060102T150405.000")
}

// NewRun makes the folder of a run; it must not exist.
func (f Folder) NewRun(id string) (Run, error) {
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
	run := f.Run(id)
	switch err := root.Mkdir(filepath.Join(runs, id), 0o755); {
	case errors.Is(err, fs.ErrExist):
		return Run{}, fault.Usage("there is a run "+id+" already", "try again: a run is named after the moment it begins", err)
	case err != nil:
		return Run{}, cannotWrite(run.Path, err)
	}
	f.removeOldDigests()
	return run, nil
}

// Run is one of the folder's.
func (f Folder) Run(id string) Run {
	run := Run{ID: id, Path: filepath.Join(f.Path, runs, id)}
	if f.StateDir != "" {
		run.digestFile = f.digestPath(id)
	}
	return run
}

// ignoreAll keeps the folder out of git, unless its people have said what is to
// be kept out.
func ignoreAll(root *untrusted.Root) error {
	if info, err := root.Lstat(".gitignore"); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return root.WriteFile(".gitignore", []byte("*\n!settings.json\n"), 0o644)
}

func cannotWrite(path string, err error) error {
	return fault.Usage("cannot write to "+path, "make the folder writable, with no links out of it, and see that the disk is not full", err)
}

// Unfinished is the newest run that wanted accepts, if it has not stopped: what
// lies behind a newer one that has is out of date.
func (f Folder) Unfinished(wanted func(journal.Run) bool) (Run, bool) {
	run, state, found := f.newest(func(_ Run, state journal.Run) bool { return wanted(state) })
	return run, found && state.Stop == nil
}

// Newest is what the newest run that wanted accepts came to.
func (f Folder) Newest(wanted func(journal.Run) bool) (journal.Run, bool) {
	_, state, found := f.newest(func(_ Run, state journal.Run) bool { return wanted(state) })
	return state, found
}

// newest passes a journal over that cannot be read: it must not keep a new run
// from beginning.
func (f Folder) newest(wanted func(Run, journal.Run) bool) (Run, journal.Run, bool) {
	for _, id := range slices.Backward(f.ids()) {
		run := f.Run(id)
		entries, err := run.Entries()
		if err != nil || len(entries) == 0 {
			continue
		}
		if state := journal.Fold(journal.Run{}, entries...); wanted(run, state) {
			return run, state, true
		}
	}
	return Run{}, journal.Run{}, false
}

// CheckJournal is a fault if the journal of the newest run, or of the named one,
// cannot be read: an older run must not be shown instead.
func (f Folder) CheckJournal(id string) error {
	ids, err := f.listRuns()
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
	run := f.Run(id)
	if _, err := run.Entries(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Usage("the run "+id+" cannot be told of", run.remedy(err), err)
	}
	return nil
}

// remedy is what to do about a journal that cannot be read, as far as why is known.
func (r Run) remedy(err error) string {
	other, is := errors.AsType[*journal.VersionError](err)
	switch {
	case is && other.V > journal.Version:
		return "a later version of ralph has written it: use that one, or move " + r.Path + " away"
	case errors.Is(err, fs.ErrPermission):
		return "make " + r.Path + " readable for you, with all that lies in it"
	}
	return r.Journal() + " is not as ralph writes it; name another run of .ralph/runs, or start a new one: ralph run"
}

func (f Folder) ids() []string {
	ids, _ := f.listRuns()
	return ids
}

// listRuns names the runs, oldest first. What is no folder of its own is none.
func (f Folder) listRuns() (ids []string, err error) {
	if err := f.CheckPath(); err != nil {
		return nil, err
	}
	root, err := untrusted.OpenRoot(f.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	entries, err := root.ReadDir(runs)
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

// maxKeptFile is more than any file beside a journal holds that is read again.
const maxKeptFile = 64 << 20

// Read is a file of the folder that was kept earlier, if it still is what it
// was: agents can write there.
func (f Folder) Read(name, digest string) (string, error) {
	root, err := untrusted.OpenRoot(f.Path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(name, maxKeptFile)
	if errors.Is(err, untrusted.ErrNotPlain) {
		err = fmt.Errorf("%w: %w", err, os.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return "", fmt.Errorf("read %s: it is not what it was", name)
	}
	return string(data), nil
}
