package proof

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// selected is a check's command for some old tests.
type selected struct {
	command string // empty: it need not run
	shared  bool   // its tests may need others to have run before them
}

// selectTests returns the checks that need to run only the old tests which the change can
// affect, by name. For the newest reference these are the tests in the same process as a
// touched file; for an older one, those that a story has changed since.
func (j *judgement) selectTests(older bool, sure, left []string) (map[string]selected, error) {
	files, touched, alone := left, left, isTest
	switch {
	case older && len(left) > 0:
	case !older && len(sure) == len(j.swapped):
		files, touched, alone = j.touched, j.swapped, isApart
	default:
		return nil, nil
	}
	asked := map[string]selected{}
	questions, err := j.prover.narrow(j.ctx, j.run, j.proof, touched, j.unlessImported(alone))
	for name, q := range questions {
		if q.isolates && !older {
			// The command or the project's settings may run files in one process.
			if mixed, failed := j.prover.Changes.Mixed(j.ctx, j.run, j.ref.tests, j.commit); mixed || failed != nil || strings.Contains(q.command, "isolate") {
				err = errors.Join(err, failed)
				continue
			}
		}
		of := files
		if q.folder && !older {
			of = touched
		}
		asked[name] = selected{q.commandFor(of), q.shared}
	}
	return asked, err
}

// unlessImported leaves out files that other tests may load. With Go these are in the same folder.
func (j *judgement) unlessImported(alone func(runner, string) bool) func(runner, string) bool {
	return func(r runner, file string) bool {
		return alone(r, file) && (r.folder || !j.imported[path.Join(j.run.Policy.Subfolder, file)])
	}
}

// runOldTests runs the checks with the reference's versions of files. If the selected tests do
// not suffice, all tests run.
func (j *judgement) runOldTests(number int, asked map[string]selected, files []string) error {
	base := Standing{From: j.ref.tests, Texts: map[string][]byte{}}
	for _, file := range files {
		base.add(file, j.texts[file])
	}
	for _, d := range j.settings {
		base.add(d.Path, d.Text)
	}
	stand, err := j.prover.Stand(j.ctx, j.run, j.commit, base)
	if err != nil {
		return fmt.Errorf("put the tests of %.12s onto %.12s: %w", j.ref.tests, j.commit, err)
	}
	j.old = &outcome{}
	at := Place{Where: journal.AtDoubt, Commit: j.commit, Stand: stand, Number: number, Commands: map[string]string{}}.judged(j.run)
	for name, check := range asked {
		at.Commands[name] = check.command
	}
	at.Only = func(name string) bool { command, is := at.Commands[name]; return !is || command != "" }
	if err := j.prover.add(j.ctx, j.run, at, j.old, j.ran.Add); err != nil {
		return err
	}
	maps.DeleteFunc(asked, func(name string, check selected) bool { return j.suffices(name, check) })
	if len(asked) == 0 {
		return nil
	}
	at.Commands, at.Only = nil, func(name string) bool { _, is := asked[name]; return is }
	j.old.checks = slices.DeleteFunc(j.old.checks, func(check journal.CheckEnded) bool { return at.Only(check.Name) })
	return j.prover.add(j.ctx, j.run, at, j.old, j.ran.Add)
}

// suffices reports whether the results of selected tests are enough: they ran, and fail by name and by themselves.
func (j *judgement) suffices(name string, asked selected) bool {
	ended, ran := journal.FindCheck(j.old.checks, name)
	switch {
	case j.old.unready != "" || asked.command == "":
		return true
	case !ran:
		return false
	case ended.Skipped != "":
		return true
	case ended.Passed:
		here, _ := journal.FindCheck(j.proof.Checks, name) // may name no tests
		was, _ := journal.FindCheck(j.ref.checks, name)
		if counts(here).passed < counts(was).passed && onlyCounts(was, j.told(was)) {
			return false // those of other files may no longer run
		}
		return len(j.touched) == 0 || here.Tests == nil || ended.Tests != nil && ended.Tests.Passed+ended.Tests.Failed > 0
	}
	return !asked.shared && len(ended.Tests.Failing()) > 0
}
