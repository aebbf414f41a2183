package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/journal"
)

// A checkout may bring files of any name, journals too. So the newest journal that was
// begun here has a second name, in a folder that no checkout writes to: what a checkout
// puts in the journal's place is another file.

// OwnIn is such a folder in a user's home; empty: there is no home.
func OwnIn(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local/state/ralph")
}

// Begun is the newest run that wanted accepts, if it began here.
func (f Folder) Begun(wanted func(journal.Run) bool) (Run, journal.Run) {
	run, state, found := f.newest(wanted)
	if !found || !f.Vouched(run) {
		return Run{}, journal.Run{}
	}
	return run, state
}

// vouch gives a new run's journal its second name. Where that cannot be, such as on
// another file system, the run is not vouched for.
func (f Folder) vouch(run Run) {
	if f.Own == "" {
		return
	}
	file, err := run.openFile(JournalFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND)
	if err != nil || file.Close() != nil || os.MkdirAll(f.Own, 0o700) != nil {
		return
	}
	_ = os.Remove(f.second())
	_ = os.Link(run.Journal(), f.second())
}

// Vouched tells whether a run is the newest that was begun in this folder.
func (f Folder) Vouched(run Run) bool {
	first, err := os.Lstat(run.Journal())
	second, missing := os.Lstat(f.second())
	return f.Own != "" && err == nil && missing == nil && os.SameFile(first, second)
}

func (f Folder) second() string {
	sum := sha256.Sum256([]byte(f.Path))
	return filepath.Join(f.Own, hex.EncodeToString(sum[:8]))
}
