package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// A checkout may bring files of any name, journals too, and an agent may change them. So
// the digest of each journal that ralph writes lies in a folder of the user's own, where
// neither can write.

// stateDir is that folder, in a home.
const stateDir = ".local/state/ralph"

// UserStateDir is such a folder in a user's home; empty: there is no home.
func UserStateDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, stateDir)
}

// NewestVouched is the newest run that wanted accepts of those whose journals were written here.
func (f Folder) NewestVouched(wanted func(journal.Run) bool) (Run, journal.Run) {
	run, state, _ := f.newest(func(home Run, state journal.Run) bool { return wanted(state) && f.IsVouched(home) })
	return run, state
}

// UnvouchedError is the fault of a run whose journal is not vouched for, with the command by which
// its user accepts it.
func UnvouchedError(id, accept string) error {
	return fault.Usage("the journal of the run "+id+" is not as ralph wrote it here: a commit or an agent may have changed it, or the project was moved",
		"look at .ralph/runs/"+id+"/journal.jsonl; if all that it says is so: "+accept, nil)
}

// CanVouch tells whether digests of journals can be kept.
func (f Folder) CanVouch() bool { return f.StateDir != "" && os.MkdirAll(f.StateDir, 0o700) == nil }

// IsVouched tells whether the journal of a run is as ralph wrote it in this folder.
func (f Folder) IsVouched(run Run) bool {
	root, err := untrusted.OpenRoot(run.Path)
	if f.StateDir == "" || err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // only a handle
	text, err := root.ReadFile(JournalFile, maxJournalRead)
	if err != nil {
		return false
	}
	_, sound, err := journal.Replay(text)
	return err == nil && f.Run(run.ID).hasDigestOf(text[:sound])
}

// hasDigestOf tells whether ralph wrote this journal of the run.
func (r Run) hasDigestOf(text []byte) bool {
	known, err := untrusted.ReadFile(r.digestFile, maxKeptFile)
	sum := sha256.Sum256(text)
	return err == nil && bytes.Contains(known, []byte("\n"+hex.EncodeToString(sum[:])+"\n"))
}

// Accept is a run whose journal counts, whoever wrote it.
func (r Run) Accept() Run {
	r.accepted = true
	return r
}

// digestPath is the file of a run's digest.
func (f Folder) digestPath(id string) string {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		path = f.Path
	}
	sum := sha256.Sum256([]byte(path + "\n" + id))
	return filepath.Join(f.StateDir, hex.EncodeToString(sum[:8]))
}

// SaveCommand keeps the agent's command of a run there, as no journal may hold it.
func (f Folder) SaveCommand(run Run, command string) error {
	if f.StateDir == "" {
		return nil
	}
	if err := os.MkdirAll(f.StateDir, 0o700); err != nil {
		return err
	}
	root, err := untrusted.OpenRoot(f.StateDir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.WriteFile(filepath.Base(f.digestPath(run.ID))+"-command", []byte(run.Journal()+"\n"+command), 0o600)
}

// SavedCommand is the agent's command that was kept; empty: none was.
func (f Folder) SavedCommand(id string) string {
	text, err := untrusted.ReadFile(f.digestPath(id)+"-command", maxKeptFile)
	if f.StateDir == "" || err != nil {
		return ""
	}
	_, command, _ := strings.Cut(string(text), "\n")
	return command
}

// maxDigests is more than a user has runs to go on with.
const maxDigests = 1000

// TreesDir is a folder for the trees of a run, beside its digest.
func (f Folder) TreesDir(id string) string { return f.digestPath(id) + ".trees" }

// removeOldDigests removes the digests of journals that are gone, and their trees. Where the project is not there, its
// disk may be away: then only if there are many.
func (f Folder) removeOldDigests() {
	files, _ := untrusted.ReadDir(f.StateDir)
	for _, file := range files {
		name := filepath.Join(f.StateDir, file.Name())
		text, _ := untrusted.ReadFile(name, maxKeptFile)
		line, _, whole := bytes.Cut(text, []byte("\n"))
		path := string(line)
		for range 4 { // project/.ralph/runs/ID/journal.jsonl
			path = filepath.Dir(path)
		}
		_, there := os.Lstat(path)
		if _, err := os.Lstat(string(line)); whole && (there == nil || len(files) > maxDigests) && errors.Is(err, fs.ErrNotExist) {
			_ = errors.Join(os.Remove(name), untrusted.RemoveAll(name+".trees"))
		}
	}
}

// digest is that of a journal as it is written. Before each line its file has the digest
// with the line and the one without: a kill between the two writes costs nothing.
type digest struct {
	file   *os.File // nil: none is kept
	offset int64
	sum    hash.Hash
}

// digest begins that of a run's journal. Where it cannot be kept, the run is not vouched for.
func (r Run) digest(held []byte) *digest {
	d := &digest{sum: sha256.New()}
	d.sum.Write(held)
	if r.digestFile == "" || os.MkdirAll(filepath.Dir(r.digestFile), 0o700) != nil {
		return d
	}
	root, err := untrusted.OpenRoot(filepath.Dir(r.digestFile))
	if err != nil {
		return d
	}
	defer root.Close() //nolint:errcheck // only a handle
	head, name := r.Journal()+"\n", filepath.Base(r.digestFile)
	if d.offset = int64(len(head)); root.WriteFile(name, []byte(head), 0o600) == nil {
		d.file, _ = root.OpenFile(name, os.O_WRONLY, 0)
	}
	d.add(nil)
	return d
}

// add takes in what is about to be written.
func (d *digest) add(line []byte) {
	before := hex.EncodeToString(d.sum.Sum(nil))
	d.sum.Write(line)
	if d.file != nil {
		_, _ = d.file.WriteAt([]byte(before+"\n"+hex.EncodeToString(d.sum.Sum(nil))+"\n"), d.offset)
	}
}

func (d *digest) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
