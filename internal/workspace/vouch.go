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

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// A checkout may bring files of any name, journals too, and an agent may change them. So
// the digest of each journal that ralph writes lies in a folder of the user's own, where
// neither can write.

// stateDir is that folder, in a home.
const stateDir = ".local/state/ralph"

// OwnIn is such a folder in a user's home; empty: there is no home.
func OwnIn(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, stateDir)
}

// Begun is the newest run that wanted accepts of those whose journals were written here.
func (f Folder) Begun(wanted func(journal.Run) bool) (Run, journal.Run) {
	run, state, _ := f.newest(func(home Run, state journal.Run) bool { return wanted(state) && f.Vouched(home) })
	return run, state
}

// Vouched tells whether the journal of a run is as ralph wrote it in this folder.
func (f Folder) Vouched(run Run) bool {
	known, err := untrusted.ReadFile(f.digestOf(run.ID), mostKept)
	if f.Own == "" || err != nil {
		return false
	}
	root, err := untrusted.OpenRoot(run.Path)
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // only a handle
	text, err := root.ReadFile(JournalFile, mostRecord)
	if err != nil {
		return false
	}
	_, sound, err := journal.Replay(text)
	sum := sha256.Sum256(text[:sound])
	return err == nil && bytes.Contains(known, []byte("\n"+hex.EncodeToString(sum[:])+"\n"))
}

// digestOf is the file of a run's digest.
func (f Folder) digestOf(id string) string {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		path = f.Path
	}
	sum := sha256.Sum256([]byte(path + "\n" + id))
	return filepath.Join(f.Own, hex.EncodeToString(sum[:8]))
}

// KeepCommand keeps the agent's command of a run there, as no journal may hold it.
func (f Folder) KeepCommand(run Run, command string) error {
	if f.Own == "" {
		return nil
	}
	if err := os.MkdirAll(f.Own, 0o700); err != nil {
		return err
	}
	root, err := untrusted.OpenRoot(f.Own)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.WriteFile(filepath.Base(f.digestOf(run.ID))+"-command", []byte(run.Journal()+"\n"+command), 0o600)
}

// Command is the agent's command that was kept; empty: none was.
func (f Folder) Command(id string) string {
	text, err := untrusted.ReadFile(f.digestOf(id)+"-command", mostKept)
	if f.Own == "" || err != nil {
		return ""
	}
	_, command, _ := strings.Cut(string(text), "\n")
	return command
}

// forget removes the digests of journals that are gone.
func (f Folder) forget() {
	files, _ := untrusted.ReadDir(f.Own)
	for _, file := range files {
		name := filepath.Join(f.Own, file.Name())
		text, _ := untrusted.ReadFile(name, mostKept)
		path, _, whole := bytes.Cut(text, []byte("\n"))
		if _, err := os.Lstat(string(path)); whole && errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(name)
		}
	}
}

// digest is that of a journal as it is written. Before each line its file has the digest
// with the line and the one without: a kill between the two writes costs nothing.
type digest struct {
	file *os.File // nil: none is kept
	at   int64
	sum  hash.Hash
}

// digest begins that of a run's journal. Where it cannot be kept, the run is not vouched for.
func (r Run) digest(held []byte) *digest {
	d := &digest{sum: sha256.New()}
	d.sum.Write(held)
	if r.known == "" || os.MkdirAll(filepath.Dir(r.known), 0o700) != nil {
		return d
	}
	root, err := untrusted.OpenRoot(filepath.Dir(r.known))
	if err != nil {
		return d
	}
	defer root.Close() //nolint:errcheck // only a handle
	head, name := r.Journal()+"\n", filepath.Base(r.known)
	if d.at = int64(len(head)); root.WriteFile(name, []byte(head), 0o600) == nil {
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
		_, _ = d.file.WriteAt([]byte(before+"\n"+hex.EncodeToString(d.sum.Sum(nil))+"\n"), d.at)
	}
}

func (d *digest) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
