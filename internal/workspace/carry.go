package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// How much of a run is carried to another machine: the journal is all that a
// run needs to be gone on with, the rest is what its report shows.
const (
	MostJournal  = 32 << 20  // of its record
	mostCarried  = 256 << 10 // of a file beside it
	mostTogether = 4 << 20   // of all of those
)

// Carry reads the run's own files as another machine needs them: the journal,
// and of what lies beside it what is small. Trees and transcripts stay here.
func (r Run) Carry() (map[string][]byte, error) {
	root, err := untrusted.OpenRoot(r.Path)
	if err != nil {
		return nil, fmt.Errorf("read the run's files: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	entries, err := root.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("read the run's files: %w", err)
	}
	files, together := map[string][]byte{}, 0
	for _, entry := range entries {
		name := entry.Name()
		most := int64(min(mostCarried, mostTogether-together))
		if name == JournalFile {
			most = MostJournal
		}
		if name == PageFile || strings.HasPrefix(name, "transcript_") { // the page can be made again
			continue
		}
		text, err := root.ReadFile(name, most)
		switch {
		case errors.Is(err, untrusted.ErrNotPlain), errors.Is(err, untrusted.ErrLarger), errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		files[name] = text
		if name != JournalFile {
			together += len(text)
		}
	}
	if files[JournalFile] == nil {
		return nil, errors.New("the journal is gone, or longer than can be carried")
	}
	return files, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Unpack makes a run of files that were carried here. A run that is here
// already is brought to what they say; trees that it left are set aside, since
// they are of an older moment.
func (f Folder) Unpack(id string, files map[string][]byte) (Run, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return Run{}, fmt.Errorf("%q is no name for a run", id)
	}
	root, err := f.open()
	if err != nil {
		return Run{}, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	run := Run{ID: id, Path: filepath.Join(f.Path, runs, id)}
	home := filepath.Join(runs, id)
	if err := errors.Join(ignoreAll(root), root.MkdirAll(home, 0o755)); err != nil {
		return Run{}, cannotWrite(run.Path, err)
	}
	if err := setAside(root, filepath.Join(home, "work")); err != nil {
		return Run{}, cannotWrite(run.Path, err)
	}
	for name, text := range files {
		if name != filepath.Base(name) {
			return Run{}, fmt.Errorf("%q is no file of a run", name)
		}
		at := filepath.Join(home, name)
		if err := errors.Join(root.RemoveAll(at), root.WriteFile(at, text, 0o644)); err != nil {
			return Run{}, cannotWrite(run.Path, err)
		}
	}
	return run, nil
}

// setAside moves what is in the way, and takes what was set aside before only
// when there is something newer.
func setAside(root *untrusted.Root, path string) error {
	if _, err := root.Lstat(path); err != nil {
		return ignoreGone(err)
	}
	return errors.Join(root.RemoveAll(path+".before"), root.Rename(path, path+".before"))
}
