// Package workspace reads and writes the files of a project and of its runs: the journal, logs, locks, and the memory
// that an agent reads. It follows no links out of its folder, limits what it reads, and interprets only the plan and
// the journal.
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

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Folder is a project's .ralph folder.
type Folder struct {
	Path     string
	LockName string // the file that Lock locks (default: "lock")
	StateDir string // of the user, outside of projects: boxes, and marks of runs; empty: none

	isLocked bool // by Hold
}

// FindFolder returns the .ralph folder of dir or of the nearest folder above it, within its repository.
func FindFolder(dir string) Folder {
	for at := dir; ; at = filepath.Dir(at) {
		folder := Folder{Path: filepath.Join(at, ".ralph")}
		if info, err := os.Lstat(folder.Path); err == nil && info.IsDir() {
			return folder
		}
		// In ralph's worktrees .git is a file. Their runs are those of the folder above.
		info, err := os.Lstat(filepath.Join(at, ".git"))
		isTop := err == nil && info.IsDir()
		if isTop || at == filepath.Dir(at) {
			return Folder{Path: filepath.Join(dir, ".ralph")}
		}
	}
}

const runs = "runs"

// open refuses a link, which a repository can contain: files would be written elsewhere.
func (f Folder) open() (*untrusted.Root, error) {
	if err := f.CheckPath(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	root, err := f.folder().Open()
	if err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	return root, nil
}

// within opens the folder for the call of do.
func (f Folder) within(do func(*untrusted.Root) error) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return do(root)
}

func (f Folder) folder() untrusted.Folder {
	return untrusted.Folder{Path: f.Path}
}

// RemoveFiles removes files and folders of these names from the folder.
func (f Folder) RemoveFiles(names ...string) error {
	if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.within(func(root *untrusted.Root) error {
		for _, name := range names {
			if err := root.RemoveAll(name); err != nil {
				return cannotWrite(f.Path, err)
			}
		}
		return nil
	})
}

// CheckPath returns an error if the folder is a link or a file.
func (f Folder) CheckPath() error {
	info, err := os.Lstat(f.Path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fault.Usage(f.Path+" is a link", "remove it, or replace it with a folder", nil)
	case err == nil && !info.IsDir():
		return fault.Usage(f.Path+" is not a folder", "rename it: ralph keeps settings and runs in .ralph", nil)
	}
	return nil // opening it reports other errors
}

// RunName returns the id of a run that begins at a time. Ids with one prefix sort by time.
func RunName(prefix string, at time.Time) string {
	return prefix + "-" + at.UTC().Format("20060102T150405.000")
}

// NewRun creates the folder of a new run.
func (f Folder) NewRun(id string) (Run, error) {
	run := f.Run(id)
	return run, f.within(func(root *untrusted.Root) error {
		if err := makeRuns(root); err != nil {
			return cannotWrite(f.Path, err)
		}
		home := filepath.Join(runs, id)
		err := root.Mkdir(home, 0o755)
		if errors.Is(err, fs.ErrExist) {
			return fault.Usage("run "+id+" already exists", "try again: the id of a run is its start time", err)
		}
		if err != nil {
			return cannotWrite(run.Path, err)
		}
		return nil
	})
}

// makeRuns prepares the folder for a new run.
func makeRuns(root *untrusted.Root) error {
	if err := root.MkdirAll(runs, 0o755); err != nil {
		return err
	}
	if err := ignoreAll(root); err != nil {
		return err
	}
	return removeLinks(root)
}

// removeLinks removes the links to files of an earlier run.
func removeLinks(root *untrusted.Root) error {
	entries, err := root.ReadDir(".")
	for _, entry := range entries {
		if hasLink(entry.Name()) {
			err = errors.Join(err, root.RemoveAll(entry.Name()))
		}
	}
	return err
}

// Run returns the run with that id.
func (f Folder) Run(id string) Run {
	return Run{ID: id, Path: filepath.Join(f.Path, runs, id), in: f}
}

// ignoreAll makes git ignore the folder except the settings, unless it has a .gitignore.
func ignoreAll(root *untrusted.Root) error {
	if info, err := root.Lstat(".gitignore"); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return root.WriteFile(".gitignore", []byte("*\n!settings.json\n"), 0o644)
}

func cannotWrite(path string, err error) error {
	return fault.Usage("cannot write to "+path,
		"make the folder writable, remove links that lead out of it, and free disk space if the disk is full", err)
}

// Newest returns the newest run that wanted accepts, or a run without an ID.
func (f Folder) Newest(wanted func(journal.Run) bool) (Run, journal.Run) {
	return f.newest(func(_ Run, state journal.Run) bool { return wanted(state) })
}

// newest skips unreadable journals: they must not prevent a new run.
func (f Folder) newest(wanted func(Run, journal.Run) bool) (Run, journal.Run) {
	ids, _ := f.listRuns()
	for _, id := range slices.Backward(ids) {
		run := f.Run(id)
		var state journal.Run
		err := run.replay(func(entry journal.Entry) { state.Add(entry) })
		if err != nil || state.Seq == 0 {
			continue
		}
		if wanted(run, state) {
			return run, state
		}
	}
	return Run{}, journal.Run{}
}

// CheckJournal returns an error if the journal of run id, or of the newest run, is unreadable:
// otherwise callers would show an older run.
func (f Folder) CheckJournal(id string) error {
	ids, err := f.listRuns()
	switch {
	case errors.As(err, new(*fault.Fault)):
		return err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fault.Usage("cannot read "+f.Path, "make it and all files in it readable", err)
	}
	if id == "" && len(ids) > 0 {
		id = ids[len(ids)-1]
	}
	if !slices.Contains(ids, id) {
		return nil
	}
	run := f.Run(id)
	if err := run.replay(func(journal.Entry) {}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Usage("cannot read the journal of run "+id, run.remedy(err), err)
	}
	return nil
}

func (r Run) remedy(err error) string {
	other, ok := errors.AsType[*journal.VersionError](err)
	if ok && other.V > journal.Version {
		return "a newer version of ralph wrote it: use that version, or move " + r.Path + " away"
	}
	if errors.Is(err, fs.ErrPermission) {
		return "make " + r.Path + " and all files in it readable"
	}
	return r.Journal() + " is damaged: name another run of .ralph/runs, or start a new one: ralph run"
}

// listRuns returns the ids of the runs, oldest first. Links and files are ignored.
func (f Folder) listRuns() ([]string, error) {
	if err := f.CheckPath(); err != nil {
		return nil, err
	}
	var ids []string
	err := f.folder().Do(func(root *untrusted.Root) error {
		entries, err := root.ReadDir(runs)
		for _, entry := range entries {
			if entry.IsDir() {
				ids = append(ids, entry.Name())
			}
		}
		return err
	})
	return ids, err
}

// Create creates or empties a file in the folder.
func (f Folder) Create(name string) (io.WriteCloser, error) {
	var file io.WriteCloser
	err := f.within(func(root *untrusted.Root) error {
		var err error
		file, err = root.Create(name)
		if err != nil {
			return cannotWrite(f.Path, err)
		}
		return nil
	})
	return file, err
}

// maxKeptFile is larger than any file beside a journal that is read again.
const maxKeptFile = 64 << 20

// Read returns the content of a file, which agents can write, if it has the recorded digest.
func (f Folder) Read(name, digest string) (string, error) {
	data, err := f.folder().ReadFile(name, maxKeptFile)
	if errors.Is(err, untrusted.ErrNotPlain) {
		err = fmt.Errorf("%w: %w", err, os.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return "", fmt.Errorf("read %s: it was changed", name)
	}
	return string(data), nil
}

// reportedFile names the run whose end was reported to people.
const reportedFile = "told"

// reportedState returns the content of that file. A run that continued has a longer journal.
func reportedState(run Run) string {
	info, err := os.Stat(run.Journal())
	if err != nil {
		return run.ID
	}
	return fmt.Sprintf("%s %d", run.ID, info.Size())
}

// MarkReported records that the end of a run was reported to people.
func (f Folder) MarkReported(run Run) error {
	return f.folder().WriteFile(reportedFile, []byte(reportedState(run)), 0o644)
}

// IsReported reports whether the end of a run was reported to people.
func (f Folder) IsReported(run Run) bool {
	content, err := f.folder().ReadFile(reportedFile, 4096)
	return err == nil && string(content) == reportedState(run)
}
