package proof

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// selected is a check that runs only some old tests.
type selected struct {
	command string // empty: it need not run
	shared  bool   // its tests may need others to have run before them
}

// ask are the checks that run only the old tests that the change can matter to, by
// name. Of the newest reference these are the tests that share a process with a file
// that the change touches; of an older one those that a story changed since.
func (w *witness) ask(older bool, sure, left []string) (map[string]selected, error) {
	files, touched, own := left, left, anyTest
	switch {
	case older && len(left) > 0:
	case !older && len(sure) == len(w.all):
		files, touched, own = w.changed, w.all, apart
	default:
		return nil, nil
	}
	asked := map[string]selected{}
	questions, err := w.prover.narrow(w.ctx, w.run, w.proof, touched, own)
	for name, q := range questions {
		if q.isolates && !older {
			// Its settings may have files share a process though the runner keeps them apart.
			if mixed, failed := w.prover.Changes.Mixed(w.ctx, w.run, w.ref.commit, w.commit); mixed || failed != nil {
				err = errors.Join(err, failed)
				continue
			}
		}
		of := files
		if q.folder && !older {
			of = touched
		}
		asked[name] = selected{q.of(of), q.shared}
	}
	return asked, err
}

// hear runs the checks with the reference's files, and all tests where few do not tell enough.
func (w *witness) hear(number int, asked map[string]selected, files []string) error {
	base := Standing{From: w.ref.commit, Texts: map[string][]byte{}}
	for _, file := range files {
		base.add(file, w.texts[file])
	}
	stand, err := w.prover.Stand(w.ctx, w.run, w.commit, base)
	if err != nil {
		return fmt.Errorf("put the tests of %.12s onto %.12s: %w", w.ref.commit, w.commit, err)
	}
	w.old = &sight{}
	at := Place{Where: journal.AtDoubt, Commit: w.commit, Stand: stand, Number: number, Commands: map[string]string{}}.judged(w.run)
	for name, check := range asked {
		at.Commands[name] = check.command
	}
	at.Only = func(name string) bool { command, is := at.Commands[name]; return !is || command != "" }
	if err := w.prover.add(w.ctx, w.run, at, w.old, w.ran.Add); err != nil {
		return err
	}
	maps.DeleteFunc(asked, func(name string, check selected) bool { return w.enough(name, check) })
	if len(asked) == 0 {
		return nil
	}
	at.Commands, at.Only = nil, func(name string) bool { _, is := asked[name]; return is }
	w.old.checks = slices.DeleteFunc(w.old.checks, func(check journal.CheckEnded) bool { return at.Only(check.Name) })
	return w.prover.add(w.ctx, w.run, at, w.old, w.ran.Add)
}

// enough tells whether a run of few tests tells all: they ran, and fail by name and by themselves.
func (w *witness) enough(name string, asked selected) bool {
	ended, ran := journal.FindCheck(w.old.checks, name)
	switch {
	case w.old.unready != "" || asked.command == "":
		return true
	case !ran:
		return false
	case ended.Skipped != "":
		return true
	case ended.Passed:
		here, _ := journal.FindCheck(w.proof.Checks, name) // may name no tests
		return len(w.changed) == 0 || here.Tests == nil || ended.Tests != nil && ended.Tests.Passed+ended.Tests.Failed > 0
	}
	return !asked.shared && len(ended.Tests.Failing()) > 0
}
