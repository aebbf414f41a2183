package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

const stateDir = ".local/state/ralph"

// UserStateDir returns the folder with a user's boxes and what later commands need of runs, or an empty path without a
// home.
func UserStateDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, stateDir)
}

// HasState reports whether the folder of the user's state can be written.
func (f Folder) HasState() bool { return f.StateDir != "" && os.MkdirAll(f.StateDir, 0o700) == nil }

// NewestHere returns the newest run that wanted accepts and that was opened here. A checkout can bring other journals.
func (f Folder) NewestHere(wanted func(journal.Run) bool) (Run, journal.Run) {
	return f.newest(func(home Run, state journal.Run) bool { return wanted(state) && home.isMarked() })
}

// mark notes in the user's state where the run's journal is.
func (r Run) mark() {
	if !r.in.HasState() {
		return
	}
	name := filepath.Base(r.in.statePath(r.ID))
	// Without a mark, only this project knows the run.
	_ = untrusted.Folder{Path: r.in.StateDir}.WriteFile(name, []byte(r.Journal()+"\n"), 0o600)
}

func (r Run) isMarked() bool {
	if r.in.StateDir == "" {
		return false
	}
	text, err := untrusted.ReadFile(r.in.statePath(r.ID), maxKeptFile)
	return err == nil && string(text) == r.Journal()+"\n"
}

// statePath returns the name that a run's files begin with in the user's state.
func (f Folder) statePath(id string) string {
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
	name := filepath.Base(f.statePath(run.ID)) + commandSuffix
	return untrusted.Folder{Path: f.StateDir}.WriteFile(name, []byte(run.Journal()+"\n"+command), 0o600)
}

// SavedCommand returns the saved agent command, or an empty text.
func (f Folder) SavedCommand(id string) string {
	text, err := untrusted.ReadFile(f.statePath(id)+commandSuffix, maxKeptFile)
	if f.StateDir == "" || err != nil {
		return ""
	}
	_, command, _ := strings.Cut(string(text), "\n")
	return command
}

// TreesDir returns a folder for the trees of a run.
func (f Folder) TreesDir(id string) string { return f.statePath(id) + treesSuffix }

const (
	treesSuffix   = ".trees"
	commandSuffix = "-command"
)

// BaselinesDir is the folder in the user's state with the results of checks at base commits.
const BaselinesDir = "baselines"

// SweepState removes from the user's state what no run needs any more: boxes and commands of runs that are complete
// or whose journal is gone, and baselines, which can be made again. It returns their paths, and the ids of the other
// runs.
func SweepState(stateDir string, now time.Time, dry bool) (removed, unfinished []string, err error) {
	entries, err := untrusted.ReadDir(stateDir)
	err = ignoreNotExist(err)
	for _, entry := range entries {
		name := filepath.Join(stateDir, entry.Name())
		left, id := leftBehind(name)
		switch {
		case entry.Name() == BaselinesDir, isLost(name, now):
			removed = append(removed, name)
		case id != "" && left == nil:
			unfinished = append(unfinished, id)
		default:
			removed = append(removed, left...)
		}
	}
	removed = slices.DeleteFunc(removed, func(name string) bool {
		_, missing := os.Lstat(name)
		return missing != nil
	})
	if dry {
		return removed, unfinished, err
	}
	for _, name := range removed {
		err = errors.Join(err, untrusted.RemoveAll(name))
	}
	return removed, unfinished, err
}

// leftBehind returns the files and folders that the run of a mark or command left, if it is over, and its id.
func leftBehind(name string) (left []string, id string) {
	text, _ := untrusted.ReadFile(name, maxKeptFile)
	line, _, ok := bytes.Cut(text, []byte("\n"))
	if !ok {
		return nil, ""
	}
	home := filepath.Dir(string(line)) // project/.ralph/runs/ID
	run := Folder{Path: filepath.Dir(filepath.Dir(home))}.Run(filepath.Base(home))
	_, noProject := os.Lstat(run.Project())
	over, err := run.isOver()
	switch {
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
	mark, ok := strings.CutSuffix(name, treesSuffix)
	if !ok {
		return false
	}
	if _, err := os.Lstat(mark); err == nil {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && now.Sub(info.ModTime()) > 24*time.Hour
}

// isOver reports a complete run. The error is fs.ErrNotExist if it has no journal.
func (r Run) isOver() (bool, error) {
	var state journal.Run
	err := r.replay(func(entry journal.Entry) { state.Add(entry) })
	return err == nil && state.IsCompleted(), err
}
