package proof

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Standing is a proof's commit with some files otherwise: old ones as the base
// has them, others with a text of their own.
type Standing struct {
	Old   []string
	Texts map[string][]byte
}

// Doubts tells what of a change nobody can tell by reading, by trying it on a
// clean checkout: the base's own tests on the new code where nothing but a
// likeness explains that they are gone or ask for less, and whether the checks
// run a test where it lies now. And the tests that ran before and do not any more,
// or that show less of an earlier story than they did. Nothing of it is on record but what is found.
func (p Prover) Doubts(ctx context.Context, run journal.Run, step verdict.Inspect, changes []tamper.Change) ([]tamper.Finding, error) {
	if run.Baseline == nil || !run.Baseline.Usable {
		return nil, nil // nothing is proven here, whatever the tests say
	}
	t := &attempt{prover: p, run: run, commit: step.Commit}
	old, err := t.old(ctx, tamper.Doubts(changes))
	if err != nil {
		return nil, fmt.Errorf("run the base's tests on %.12s: %w", step.Commit, err)
	}
	moved, err := t.moved(ctx, tamper.Moves(changes), changes)
	if err != nil {
		return nil, fmt.Errorf("see which tests are run at %.12s: %w", step.Commit, err)
	}
	undone, err := t.undone(ctx, step)
	if err != nil {
		return nil, err
	}
	return slices.Concat(old, moved, p.gone(run, step.Tree, changes), undone), nil
}

// attempt is a commit on which things are tried.
type attempt struct {
	prover Prover
	run    journal.Run
	commit string
	count  int // of the checkouts so far, for the names of logs
}

// at runs the checks on the commit as it is wanted.
func (t *attempt) at(ctx context.Context, s Standing, again func(journal.CheckEnded) bool) (sight, error) {
	stand, err := t.prover.Stand(ctx, t.run, t.commit, s)
	if err != nil {
		return sight{}, err
	}
	t.count++
	place := Place{Where: journal.AtDoubt, Commit: t.commit, Stand: stand, Again: again, Ask: t.run.RedBefore, Number: t.count}
	return t.prover.run(ctx, t.run, place, func(journal.Event) {})
}

// old are the doubts that the base's own tests bear out: they fail here. Where
// they cannot be run, all of them stay.
func (t *attempt) old(ctx context.Context, doubts []tamper.Finding) ([]tamper.Finding, error) {
	var s Standing
	for _, doubt := range doubts {
		s.Old = append(s.Old, doubt.File)
	}
	slices.Sort(s.Old)
	s.Old = slices.Compact(s.Old)
	return t.borne(ctx, s, doubts, "as the base has it")
}

// borne are the doubts that old tests bear out where they stand in the commit; of
// when they are is told.
func (t *attempt) borne(ctx context.Context, s Standing, doubts []tamper.Finding, of string) ([]tamper.Finding, error) {
	if len(doubts) == 0 {
		return nil, nil
	}
	seen, err := t.at(ctx, s, t.run.Holds)
	if err != nil {
		return nil, err
	}
	why := "; " + of + ", it fails here"
	if seen.unready != "" {
		why = "; " + of + ", it could not be run: " + seen.unready
	}
	var found []tamper.Finding
	for _, doubt := range doubts {
		if seen.unready != "" || slices.ContainsFunc(seen.checks, func(c journal.CheckEnded) bool { return t.run.Holds(c) && concerns(doubt, t.run, c) }) {
			doubt.Why += why
			found = append(found, doubt)
		}
	}
	return found, nil
}

// concerns tells whether what fails in a check may be what a doubt is about: a
// test that it names, or anything where no names are told, or not all.
func concerns(doubt tamper.Finding, run journal.Run, check journal.CheckEnded) bool {
	fresh := run.Fresh(check)
	if base, found := run.AtBase(check.Name); found && base.Passed {
		fresh = check.Tests.Failing()
	}
	if len(fresh) == 0 || check.Tests.Cut || len(check.Tests.Broken) > 0 || strings.Contains(doubt.Why, "…") {
		return true
	}
	return slices.ContainsFunc(fresh, func(name string) bool { return strings.Contains(doubt.Why, last(name)) })
}

// last is the end of a test's name, which all runners have in common.
func last(name string) string {
	name, _, _ = strings.Cut(name, " (") // as unittest names its class
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:/>", r) })
	if len(parts) == 0 {
		return name
	}
	return strings.TrimSpace(parts[len(parts)-1])
}

// mostTries is how often at most is asked which of the moved tests are run.
const mostTries = 5

// moved are the tests that nothing runs where they lie now. A program that only
// fails stands in for each of them: where the checks do not notice, they run
// none of those; where they do, it says which they ran.
func (t *attempt) moved(ctx context.Context, moves []tamper.Move, changes []tamper.Change) ([]tamper.Finding, error) {
	moves = slices.DeleteFunc(slices.Concat(moves, tamper.Strays(changes)), func(m tamper.Move) bool { return suite.Of(m.From) != suite.Test })
	for range mostTries {
		if len(moves) == 0 {
			return nil, nil
		}
		seen, err := t.at(ctx, Standing{Texts: failing(moves, changes)}, nil)
		if err != nil {
			return nil, err
		}
		if seen.unready == "" && !slices.ContainsFunc(seen.checks, t.run.Holds) {
			return idle(moves, changes), nil
		}
		left := t.silent(moves, seen.checks)
		if len(left) == len(moves) {
			break // one of them was run, and did not get to say which
		}
		moves = left
	}
	return nil, nil
}

// silent are the moves whose stand-ins were not heard of.
func (t *attempt) silent(moves []tamper.Move, checks []journal.CheckEnded) []tamper.Move {
	var heard strings.Builder
	for _, check := range checks {
		heard.WriteString(t.prover.Log(check))
	}
	var left []tamper.Move
	for _, m := range moves {
		if !strings.Contains(heard.String(), mark(moves, m)) {
			left = append(left, m)
		}
	}
	return left
}

func idle(moves []tamper.Move, changes []tamper.Change) []tamper.Finding {
	var found []tamper.Finding
	for _, m := range moves {
		why := "its tests are in " + m.To + " now, and no check runs them there: one that fails in their place goes unnoticed"
		if !came(m.To, changes) {
			why = "without it no check runs the tests of " + path.Dir(m.From) + ": one that fails among them goes unnoticed"
		}
		found = append(found, tamper.Finding{File: m.From, Kind: tamper.TestDeleted, Lines: []tamper.Line{}, Why: why})
	}
	return found
}

func came(name string, changes []tamper.Change) bool {
	return slices.ContainsFunc(changes, func(c tamper.Change) bool { return c.Path == name })
}

// mark is what the stand-in for a move says: the same for all to one file.
func mark(moves []tamper.Move, m tamper.Move) string {
	at := slices.IndexFunc(moves, func(other tamper.Move) bool { return other.To == m.To })
	return "ralph-looks-whether-this-runs-" + strconv.Itoa(at) + "-"
}

// failing are programs that fail, and say so, in the place of tests.
func failing(moves []tamper.Move, changes []tamper.Change) map[string][]byte {
	texts := map[string][]byte{}
	for _, m := range moves {
		var text []byte
		if at := slices.IndexFunc(changes, func(c tamper.Change) bool { return c.Path == m.To }); at >= 0 {
			text = changes[at].After
		}
		texts[m.To] = []byte(program(m.To, text, mark(moves, m)))
	}
	return texts
}

// program fails with a word, by the means of the language that a file is in.
// One that nobody knows is none at all, which fails as well.
func program(name string, text []byte, word string) string {
	switch path.Ext(name) {
	case ".py":
		return "raise SystemError(\"" + word + "\")\n"
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts":
		return "throw new Error(\"" + word + "\");\n"
	case ".rb":
		return "raise \"" + word + "\"\n"
	case ".sh", ".bash", ".bats":
		return "echo " + word + "\nexit 1\n"
	case ".go":
		files := token.NewFileSet()
		if file, err := parser.ParseFile(files, "", text, parser.PackageClauseOnly); err == nil { // what stands before it may keep it from being built
			return string(text[:files.Position(file.Name.End()).Offset]) + "\n\nfunc init() { panic(\"" + word + "\") }\n"
		}
	}
	return word + "\n"
}
