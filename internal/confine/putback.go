package confine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/gob"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// ErrNotPutBack ends a run: what a command may not change stays as it left it.
var ErrNotPutBack = putback.ErrNotPutBack

// stopAfterBreach runs as next does, as long as all that those inside changed could be put
// back. Then nothing runs any more: what would be kept next is what they wrote.
func (w *Sandbox) stopAfterBreach(next sandbox.Exec) sandbox.Exec {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if err := w.recordBreach(nil); err != nil {
			return process.Result{}, err
		}
		res, err := next(ctx, c)
		if errors.Is(err, putback.ErrNotPutBack) {
			err = w.recordBreach(err)
		}
		return res, err
	}
}

func (w *Sandbox) recordBreach(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.breachError == nil && err != nil { // a failure of the agent would hide it
		w.breachError = err
		w.pending = append(w.pending, journal.Noted{What: strings.ReplaceAll(err.Error(), "\n", "; "), Hint: fault.Hint(err)})
	}
	return w.breachError
}

func marks(home string) string { return filepath.Join(workspace.UserStateDir(home), "guards") }

// markFile is what a mark says: what a command found, and the records of commands in folders above that worked then.
// Their agents may have made or changed what was found there, so it stays only as those records have it.
type markFile struct {
	Found []byte
	Above [][]byte
}

// The last byte of a mark, behind what gob reads.
const notTried, failedBefore = 0, 1 // to put back what the command changed

func readMarkFile(text []byte) (m markFile, failed bool) {
	_ = gob.NewDecoder(bytes.NewReader(text)).Decode(&m) // it was cut off before any program ran
	return m, bytes.HasSuffix(text, []byte{failedBefore})
}

// begin keeps other commands from beginning until alone is closed, and reads the marks of those that run.
func begin(home string) (alone *workspace.Mark, running []markFile, err error) {
	if alone, _, _, err = workspace.OpenMark(marks(home) + ".lock"); err != nil {
		return nil, nil, noRecord(home, err)
	}
	list, err := workspace.Marks(marks(home))
	for _, file := range list {
		text, failed := workspace.ReadMark(file)
		other, _ := readMarkFile(text)
		running, err = append(running, other), errors.Join(err, failed)
	}
	if err != nil {
		return nil, nil, errors.Join(noRecord(home, err), alone.Close(false))
	}
	return alone, running, nil
}

// Listed returns the access that list finds while no other command begins. What commands that run now may not change in
// its folders, it may not change either: their agents can hide it from list.
func (w *Sandbox) Listed(list func() Access) (at Access, err error) {
	if w == nil || w.folders.home == "" {
		return list(), nil
	}
	alone, running, err := begin(w.folders.home)
	if err != nil {
		return at, err
	}
	defer alone.Close(false) //nolint:errcheck // it holds nothing
	at = list()
	for _, other := range running {
		at.protect(putback.Files{Write: at.Write}.Named(other.Found))
	}
	return at, nil
}

// Settled calls do while no other command begins, and tells it whether none works in a folder or around it: then what its
// programs may not change is as the user made it.
func Settled(home, folder string, do func(settled bool) error) error {
	alone, running, err := begin(home)
	if err != nil {
		return err
	}
	defer alone.Close(false) //nolint:errcheck // it holds nothing
	return do(!slices.ContainsFunc(running, func(other markFile) bool {
		return slices.ContainsFunc(putback.Folders(other.Found), func(dir string) bool { return process.Under(dir, folder) || process.Under(folder, dir) })
	}))
}

func (at *Access) protect(readOnly []string, guards []putback.Guard) {
	for _, guard := range guards {
		if !slices.ContainsFunc(at.Guarded, func(own guarded.Guard) bool { return own.Dir == guard.Dir && !own.OnlyName() }) {
			at.Guarded = append(at.Guarded, guarded.Guard(guard))
		}
	}
	for _, path := range readOnly {
		if !slices.Contains(at.ReadOnly, path) {
			at.ReadOnly = append(at.ReadOnly, path)
		}
	}
}

// mark returns the texts of other commands, and keeps one while a command runs, where nothing inside can write to.
func (w *Sandbox) mark(folders []string) (others [][]byte, keep func(text []byte) (done func(bool) error, err error), err error) {
	if w.folders.home == "" {
		return nil, func([]byte) (func(bool) error, error) { return (*workspace.Mark)(nil).Close, nil }, nil
	}
	alone, running, err := begin(w.folders.home) // a command that begins now would not see ours
	if err != nil {
		return nil, nil, err
	}
	records, err := w.records.above(folders, w.Marks())
	if err != nil {
		return nil, nil, errors.Join(noRecord(w.folders.home, err), alone.Close(false))
	}
	for _, other := range running {
		others, records = append(others, other.Found), append(records, other.Above...)
	}
	return others, func(text []byte) (func(bool) error, error) {
		defer alone.Close(false) //nolint:errcheck // it holds nothing
		// With those of commands that began meanwhile, each once: every later command takes them over.
		later, err := w.records.above(folders, w.Marks())
		records = distinct(append(records, later...))
		unmark := (*workspace.Mark)(nil).Close
		if err == nil && text != nil {
			unmark, err = w.keepMark(markFile{text, records})
		}
		if err != nil {
			return nil, noRecord(w.folders.home, err)
		}
		return func(all bool) error {
			w.settleBy(folders, records) // first: another command would take up what was put back
			return unmark(all)
		}, nil
	}, nil
}

// noRecord is why no command starts: if ralph was killed meanwhile, what the command changed would stay.
func noRecord(home string, err error) error {
	fix := fmt.Sprintf("end other commands in a sandbox, and make %s yours to read and write", workspace.UserStateDir(home))
	if putback.IsFull(err) {
		fix = "free some space and inodes on the disk of " + home
	}
	return fault.Usage("cannot read or write the records of .git and other guarded folders", fix, err)
}

// Records find the records of commands in folders above others, and move aside there what differs from them; see
// nested.Above and nested.SettleBy.
type Records struct {
	Above  func(folders []string, marks string) ([][]byte, error)               // nil: there are none
	Settle func(folders []string, records [][]byte) (moved []string, err error) // also when a run was interrupted
}

func (r Records) above(folders []string, marks string) ([][]byte, error) {
	if r.Above == nil {
		return nil, nil
	}
	return r.Above(folders, marks)
}

// settleBy moves aside what differs from the records of commands above.
func (w *Sandbox) settleBy(folders []string, records [][]byte) {
	if len(records) == 0 || w.records.Settle == nil {
		return
	}
	moved, err := w.records.Settle(folders, records)
	for _, note := range SearchNotes("a command in a folder above", moved, err) {
		w.record(note)
	}
}

// SearchNotes tell people what a search for repositories moved aside, whose work that was, and that it ended early.
func SearchNotes(whose string, moved []string, err error) (notes []journal.Event) {
	if len(moved) > 0 {
		notes = append(notes, journal.Noted{
			What: fmt.Sprintf("moved aside what git would run or follow, which %s made or changed: %s", whose, journal.ShortList(moved)),
			Hint: "inspect it; to restore it, remove " + guarded.Aside + " from its name, and from names in it; an index is made anew: stage again what you had staged",
		})
	}
	if err != nil {
		notes = append(notes, journal.Noted{
			What: "not every repository in the project could be inspected: " + err.Error(),
			Hint: "look for folders with a .git or a HEAD in it before you run git in them",
		})
	}
	return notes
}

func distinct(records [][]byte) (all [][]byte) {
	for _, record := range records {
		if !slices.ContainsFunc(all, func(one []byte) bool { return bytes.Equal(one, record) }) {
			all = append(all, record)
		}
	}
	return all
}

func (w *Sandbox) keepMark(what markFile) (done func(bool) error, err error) {
	due, _, _, err := workspace.OpenMark(filepath.Join(marks(w.folders.home), rand.Text()))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err = errors.Join(gob.NewEncoder(&text).Encode(what), due.Write(append(text.Bytes(), notTried)), due.Share()); err != nil {
		return nil, errors.Join(err, due.Close(true)) // others would wait for its text
	}
	return func(all bool) error {
		if all {
			return due.Close(true)
		}
		return errors.Join(due.WriteLast(failedBefore), due.Close(false))
	}, nil
}

// Recover moves aside what agents added where they may not, and puts back what they removed, in commands that were
// killed with ralph or met a full disk. Until then git must run in none of these folders.
func Recover(home string) (moved, restored []string, err error) {
	if !filepath.IsAbs(home) {
		return nil, nil, nil
	}
	list, err := workspace.Marks(marks(home))
	if err != nil {
		return nil, nil, noRecord(home, err)
	}
	for _, name := range list {
		due, text, only, failed := workspace.OpenMark(name)
		var names, missing []string
		if failed == nil && only { // else its command still runs
			m, before := readMarkFile(text)
			names, missing, failed = putback.Recover(m.Found, before)
		}
		if failed = errors.Join(failed, due.Close(only && failed == nil)); failed != nil {
			fix := fmt.Sprintf("inspect the folders that %s names, then remove that file", name)
			if putback.IsFull(failed) {
				fix = fmt.Sprintf("free some space and inodes, then try again: %s has what is missing", name)
			}
			err = errors.Join(err, fault.Usage("cannot undo what an earlier command left", fix, failed))
		}
		moved, restored = append(moved, names...), append(restored, missing...)
	}
	return moved, restored, err
}
