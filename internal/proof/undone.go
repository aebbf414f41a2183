package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// apart tells the logs of what is tried for one earlier story from those of
// another.
const apart = 10

// undone tells whether what earlier stories were shown by still shows it. The
// base has none of it: held against that, a test that came with one story and is
// taken back with the next was never there.
func (a *attempt) undone(ctx context.Context, step verdict.Inspect) ([]tamper.Finding, error) {
	p, run := a.prover, a.run
	at, found := run.ProofOf(step.Tree)
	if p.Changes == nil || !found || !at.Passed {
		return nil, nil
	}
	var all []tamper.Finding
	for i, g := range run.Grades {
		newest, _ := run.GradeOf(g.Story)
		if g.Grade != journal.RedToGreen || g.Commit != newest.Commit || g.Commit == step.Commit {
			continue
		}
		changes, err := p.Changes(ctx, g.Commit, step.Commit)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			all = append(all, unknown(g, err))
			continue
		}
		t := &trial{run: run, proof: at, tests: p.Tests, number: apart * (i + 1)}
		t.graded = journal.StoryGraded{Story: g.Story, Commit: step.Commit}
		more, err := a.taken(ctx, t, g, changes)
		if err != nil {
			return nil, fmt.Errorf("see what became of the tests of %s: %w", g.Story, err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// unknown is said where a story's commit cannot be held against the newest.
func unknown(g journal.Graded, err error) tamper.Finding {
	file := g.Story
	if len(g.Files) > 0 {
		file = g.Files[0]
	}
	return tamper.Finding{File: file, Kind: tamper.AssertionWeakened, Lines: []tamper.Line{}, Why: "nobody can tell what became of the tests of " + g.Story + ": " + err.Error()}
}

// taken are the places where later work has the tests of a story say less: by
// what they say now, by whether they still run, and by whether they still fail
// without the story's code.
func (a *attempt) taken(ctx context.Context, t *trial, g journal.Graded, changes []tamper.Change) ([]tamper.Finding, error) {
	theirs := func(path string) bool { return slices.Contains(g.Files, path) && suite.Of(path) != suite.None }
	if !slices.ContainsFunc(changes, func(c tamper.Change) bool { return theirs(c.Path) }) {
		return a.prover.idled(t, g, changes), nil
	}
	others := func(f tamper.Finding) bool { return !theirs(f.File) }
	found := slices.DeleteFunc(tamper.Find(changes), others)
	doubted, err := a.earlier(ctx, slices.DeleteFunc(tamper.Doubts(changes), others), changes)
	if found = append(found, doubted...); err != nil || len(found) > 0 {
		return found, err
	}
	files := standing(g.Files, changes)
	if !slices.ContainsFunc(files, func(name string) bool { return suite.Of(name) == suite.Test }) {
		return nil, nil
	}
	if err := a.prover.try(ctx, t, files, func(journal.Event) {}); err != nil || t.shows(g) {
		return nil, err
	}
	return []tamper.Finding{{
		File: files[0], Kind: tamper.AssertionWeakened, Lines: []tamper.Line{},
		Why: g.Story + " was shown by its tests, and as they are now they pass without its change, too",
	}}, nil
}

// earlier are the doubts that a story's tests bear out as they were when it was
// graded.
func (a *attempt) earlier(ctx context.Context, doubts []tamper.Finding, changes []tamper.Change) ([]tamper.Finding, error) {
	s := Standing{Texts: map[string][]byte{}}
	for _, doubt := range doubts {
		for _, c := range changes {
			if c.Path == doubt.File && c.Before != nil {
				s.Texts[c.Path] = c.Before
			}
		}
	}
	return a.borne(ctx, s, doubts, "as it was when its story passed")
}

// idled are the tests of a story that nothing was done to, and that do not run
// any more.
func (p Prover) idled(t *trial, g journal.Graded, changes []tamper.Change) []tamper.Finding {
	var all []tamper.Finding
	for _, old := range t.run.Proofs {
		if old.Commit != g.Commit || !old.Passed {
			continue
		}
		for _, was := range old.Checks {
			if here, both := find(t.proof.Checks, was.Name); both {
				all = append(all, p.missing(was, here, changes)...)
			}
		}
	}
	return all
}

// standing are the files of a story's tests, where they are now.
func standing(files []string, changes []tamper.Change) []string {
	moves := tamper.Moves(changes)
	var now []string
	for _, name := range files {
		gone := slices.ContainsFunc(changes, func(c tamper.Change) bool { return c.Path == name && c.After == nil })
		if !gone {
			now = append(now, name)
		}
		for _, m := range moves {
			if m.From == name {
				now = append(now, m.To)
			}
		}
	}
	slices.Sort(now)
	return slices.Compact(now)
}

// shows tells whether the tests that a story was graded by, as they are now,
// fail on the base code and pass here; under another name, where theirs is gone.
// What could not be tried accuses nobody.
func (t *trial) shows(g journal.Graded) bool {
	if t.seen.unready != "" || slices.ContainsFunc(t.seen.checks, func(c journal.CheckEnded) bool { return !c.Passed && untold(c) != "" }) {
		return true
	}
	turned := t.sum()
	if turned.whole() {
		return true
	}
	known := func(name string) bool { return slices.Contains(g.Tests, name) }
	renamed := !slices.ContainsFunc(t.proof.Checks, func(c journal.CheckEnded) bool {
		told := t.told(c, journal.AtProof)
		return slices.ContainsFunc(g.Tests, func(name string) bool { return told.Of(name) != tally.Absent })
	})
	return slices.ContainsFunc(turned.tests, known) || renamed && len(turned.tests) > 0
}
