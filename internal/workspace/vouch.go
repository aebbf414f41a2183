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
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// A repository can contain journals, and an agent can change them. So ralph writes the
// digest of each journal that it writes to a folder of the user, which neither can change.

const stateDir = ".local/state/ralph"

// UserStateDir returns that folder of a user, or an empty path without a home.
func UserStateDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, stateDir)
}

// OpenUserState gives a user access again to ralph's folders in their home. A confined command of the same user
// can have closed them: what its ralph recorded there would count as missing.
func OpenUserState(home string) {
	if !filepath.IsAbs(home) {
		return
	}
	dir := UserStateDir(home)
	untrusted.OpenToOwner(dir)
	list, _ := untrusted.ReadDir(dir)
	for _, one := range list {
		untrusted.OpenToOwner(filepath.Join(dir, one.Name()))
	}
}

// NewestVouched returns the newest run that wanted accepts and whose journal ralph wrote here.
func (f Folder) NewestVouched(wanted func(journal.Run) bool) (Run, journal.Run) {
	return f.newest(func(home Run, state journal.Run) bool { return wanted(state) && f.IsVouched(home) })
}

// UnvouchedError returns the error for a run that is not vouched for.
func UnvouchedError(id string) error {
	return fault.Usage("the journal of the run "+id+" is not as ralph wrote it here: a commit may have changed it, or the project was moved",
		"start a new run", nil)
}

// CanVouch reports whether digests of journals can be written.
func (f Folder) CanVouch() bool { return f.StateDir != "" && os.MkdirAll(f.StateDir, 0o700) == nil }

// IsVouched reports whether a run's journal is as ralph wrote it here.
func (f Folder) IsVouched(run Run) bool {
	if f.StateDir == "" {
		return false
	}
	sum := sha256.New()
	err := run.replay(func(line []byte, _ journal.Entry) { sum.Write(line) })
	return err == nil && f.Run(run.ID).hasDigest(sum.Sum(nil))
}

func (r Run) hasDigestOf(text []byte) bool {
	sum := sha256.Sum256(text)
	return r.hasDigest(sum[:])
}

func (r Run) hasDigest(sum []byte) bool {
	known, err := untrusted.ReadFile(r.in.digestPath(r.ID), maxKeptFile)
	return err == nil && bytes.Contains(known, []byte("\n"+hex.EncodeToString(sum)+"\n"))
}

// Accept returns the run with a journal that needs no digest.
func (r Run) Accept() Run {
	r.accepted = true
	return r
}

func (f Folder) digestPath(id string) string {
	path, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		path = f.Path
	}
	sum := sha256.Sum256([]byte(path + "\n" + id))
	return filepath.Join(f.StateDir, hex.EncodeToString(sum[:8]))
}

// SaveCommand saves the agent command outside of the journal, because it can contain a key.
func (f Folder) SaveCommand(run Run, command string) error {
	if f.StateDir == "" {
		return nil
	}
	if err := os.MkdirAll(f.StateDir, 0o700); err != nil {
		return err
	}
	name := filepath.Base(f.digestPath(run.ID)) + commandSuffix
	return untrusted.Folder{Path: f.StateDir}.WriteFile(name, []byte(run.Journal()+"\n"+command), 0o600)
}

// SavedCommand returns the saved agent command, or an empty text.
func (f Folder) SavedCommand(id string) string {
	text, err := untrusted.ReadFile(f.digestPath(id)+commandSuffix, maxKeptFile)
	if f.StateDir == "" || err != nil {
		return ""
	}
	_, command, _ := strings.Cut(string(text), "\n")
	return command
}

// maxDigests is more than the unfinished runs of any user.
const maxDigests = 1000

// TreesDir returns a folder for the trees of a run, beside its digest.
func (f Folder) TreesDir(id string) string { return f.digestPath(id) + treesSuffix }

const (
	treesSuffix   = ".trees"
	commandSuffix = "-command"
)

// treesTime is how long trees without a journal are kept: they may have unpushed work.
const treesTime = 90 * 24 * time.Hour

// removeOldDigests removes the digests of removed journals, and old trees. If the whole
// project is missing, its disk may be unmounted: then it removes no trees, and digests
// only if there are many.
func (f Folder) removeOldDigests(now time.Time) {
	files, _ := untrusted.ReadDir(f.StateDir)
	for _, file := range files {
		name := filepath.Join(f.StateDir, file.Name())
		text, _ := untrusted.ReadFile(name, maxKeptFile)
		line, _, whole := bytes.Cut(text, []byte("\n"))
		path := string(line)
		for range 4 { // project/.ralph/runs/ID/journal.jsonl
			path = filepath.Dir(path)
		}
		if _, err := os.Lstat(string(line)); !whole || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		_, noProject := os.Lstat(path)
		trees, noTrees := os.Lstat(name + treesSuffix)
		switch {
		case noTrees != nil && (noProject == nil || len(files) > maxDigests):
			_ = os.Remove(name)
		case noTrees == nil && noProject == nil && now.Sub(trees.ModTime()) > treesTime:
			_ = errors.Join(os.Remove(name), untrusted.RemoveAll(name+treesSuffix))
		}
	}
}

// BaselinesDir is the folder in the user's state with the results of checks at base commits.
const BaselinesDir = "baselines"

// SweepState removes from the user's state what no run needs any more: boxes and commands of runs that are complete or whose
// journal is gone, and baselines, which can be made again. It returns their paths, and the ids of the other runs.
func SweepState(stateDir string, now time.Time, dry bool) (gone, unfinished []string, err error) {
	entries, err := untrusted.ReadDir(stateDir)
	err = ignoreNotExist(err)
	for _, entry := range entries {
		name := filepath.Join(stateDir, entry.Name())
		switch left, id := leftBehind(name); {
		case entry.Name() == BaselinesDir, isLost(name, now):
			gone = append(gone, name)
		case id != "" && left == nil:
			unfinished = append(unfinished, id)
		default:
			gone = append(gone, left...)
		}
	}
	gone = slices.DeleteFunc(gone, func(name string) bool {
		_, missing := os.Lstat(name)
		return missing != nil
	})
	for _, name := range gone {
		if !dry {
			err = errors.Join(err, untrusted.RemoveAll(name))
		}
	}
	return gone, unfinished, err
}

// leftBehind returns the files and folders that the run of a digest or command left, if it is over, and its id.
func leftBehind(name string) (left []string, id string) {
	text, _ := untrusted.ReadFile(name, maxKeptFile)
	line, _, whole := bytes.Cut(text, []byte("\n"))
	if !whole {
		return nil, ""
	}
	home := filepath.Dir(string(line)) // project/.ralph/runs/ID
	run := Folder{Path: filepath.Dir(filepath.Dir(home))}.Run(filepath.Base(home))
	_, noProject := os.Lstat(run.Project())
	switch over, err := run.isOver(); {
	case errors.Is(err, fs.ErrNotExist) && noProject == nil: // else its disk may be unmounted
		return []string{name, name + treesSuffix}, run.ID
	case over && strings.HasSuffix(name, commandSuffix):
		return []string{name}, run.ID
	case over && run.in.CheckUnlocked() == nil:
		return []string{name + treesSuffix}, run.ID
	}
	return nil, run.ID
}

// isLost reports the trees of a run that was killed before its first event.
func isLost(name string, now time.Time) bool {
	digest, ok := strings.CutSuffix(name, treesSuffix)
	info, err := os.Lstat(name)
	_, missing := os.Lstat(digest)
	return ok && err == nil && missing != nil && now.Sub(info.ModTime()) > 24*time.Hour
}

// isOver reports a complete run. The error is fs.ErrNotExist if it has no journal.
func (r Run) isOver() (bool, error) {
	var state journal.Run
	err := r.replay(func(_ []byte, entry journal.Entry) { state.Add(entry) })
	return err == nil && state.IsCompleted(), err
}

// digest keeps the file with the digests of a journal up to date. Before each line of
// the journal, it writes the digests with and without that line: either can be the
// current one after a kill.
type digest struct {
	file   *os.File // nil: no digest is written
	offset int64
	sum    hash.Hash
}

// newDigest begins the digest of a journal. If it cannot write the file, the run is not
// vouched for.
func (r Run) newDigest(text []byte) *digest {
	d := &digest{sum: sha256.New()}
	d.reset(text)
	if !r.in.CanVouch() {
		return d
	}
	root, err := untrusted.OpenRoot(r.in.StateDir)
	if err != nil {
		return d
	}
	defer root.Close() //nolint:errcheck // only a handle
	head, name := r.Journal()+"\n", filepath.Base(r.in.digestPath(r.ID))
	if d.offset = int64(len(head)); root.WriteFile(name, []byte(head), 0o600) == nil {
		d.file, _ = root.OpenFile(name, os.O_WRONLY, 0)
	}
	d.add(nil)
	return d
}

func (d *digest) add(line []byte) {
	before := hex.EncodeToString(d.sum.Sum(nil))
	d.sum.Write(line)
	if d.file != nil {
		_, _ = d.file.WriteAt([]byte(before+"\n"+hex.EncodeToString(d.sum.Sum(nil))+"\n"), d.offset)
	}
}

// reset starts again with the whole text of the journal.
func (d *digest) reset(text []byte) {
	d.sum.Reset()
	d.sum.Write(text)
}

func (d *digest) close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
