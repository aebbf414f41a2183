package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// tryBaseSettings runs the checks with the base's version of touched settings. Tests that pass
// only with the changed settings are found: the product may need them, or they hide its
// faults. A person decides.
func (i *inspection) tryBaseSettings(ctx context.Context) error {
	differing, err := i.prover.Changes.Differing(ctx, i.run, i.run.Base, i.commit)
	if err != nil {
		return fmt.Errorf("compare the settings of %.12s with those of the base: %w", i.commit, err)
	}
	var files []string
	base := Standing{From: i.run.Base, Texts: map[string][]byte{}}
	for _, d := range differing {
		if d.Settings {
			base.add(d.Path, d.Text)
			files = append(files, d.Path)
		}
	}
	if len(files) == 0 {
		return nil
	}
	stand, err := i.prover.Stand(ctx, i.run, i.commit, base)
	if err != nil {
		return fmt.Errorf("put the base's settings onto %.12s: %w", i.commit, err)
	}
	seen, err := i.prover.run(ctx, i.run, Place{Where: journal.AtDoubt, Commit: i.commit, Stand: stand, Number: trySettings}.judged(i.run), i.ran.Add)
	if err != nil {
		return err
	}
	for _, here := range i.proof.Checks {
		old, _ := journal.FindCheck(seen.checks, here.Name)
		lost := i.lost(here, old)
		if len(lost) == 0 && (old.Passed || !here.Passed) {
			continue
		}
		if len(lost) == 0 {
			lost = []string{"check " + here.Name}
		}
		i.found = append(i.found, journal.Loosened{File: files[0], Kind: testsSteered, Tests: limited(lost), Why: fmt.Sprintf("with %s as the base has it, this no longer passes: %s", few(files), few(lost))})
	}
	return nil
}

// lost returns the tests that pass in the proof and not with the base's settings, and those that failed before, and do not
// run in the proof. A new test counts only if it fails: its name may differ each time, and the base's settings may not
// find it.
func (i *inspection) lost(here, old journal.CheckEnded) []string {
	if !complete(here) || !complete(old) {
		return nil
	}
	was, _ := journal.FindCheck(i.run.BaseChecks, here.Name)
	now, told, before := i.told(here), i.told(old), i.told(was)
	lost := slices.DeleteFunc(now.Names(tally.Passed), func(name string) bool {
		return told.Of(name) == tally.Passed || before.Of(name) != tally.Passed && (old.Passed || before.Of(name) == tally.Absent && told.Of(name) != tally.Failed)
	})
	for _, name := range told.Names(tally.Failed) {
		if is := now.Of(name); before.Of(name) == tally.Failed && (is == tally.Absent || is == tally.Skipped) {
			lost = append(lost, name)
		}
	}
	return lost
}
