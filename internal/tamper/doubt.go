package tamper

import (
	"bytes"
	"cmp"
	"path"
	"slices"
)

// Doubts are what nothing but a likeness to something new explains: a test that
// looks much like one that is gone, an assertion like one that was taken out.
// Whether the old one has lost its reason shows when it is run on the new code.
// So it does of what nobody here can read.
func Doubts(changes []Change) []Finding {
	loose, strict := &report{}, &report{strict: true}
	for _, r := range []*report{loose, strict} {
		safely(func() { r.read(changes) })
		safely(r.tests)
	}
	safely(strict.worn)
	known := loose.result()
	return slices.DeleteFunc(strict.result(), func(f Finding) bool {
		return slices.ContainsFunc(known, func(k Finding) bool { return k.File == f.File && k.Kind == f.Kind && k.Why == f.Why })
	})
}

// Move is a file of tests, or some of them, that stand in another file now.
// Whether anything runs them there, reading does not tell.
type Move struct{ From, To string }

// Moves are the files that tests have left for another: those that can be read,
// and whatever stands elsewhere word for word.
func Moves(changes []Change) []Move {
	moves := verbatim(changes)
	r := &report{strict: true}
	safely(func() {
		r.read(changes)
		pairs, _, _ := matched(r.before.tests, r.after.tests, true)
		for _, p := range pairs {
			if from, to := p.was.page, p.now.page; from.collects && from.path != to.path {
				moves = append(moves, Move{from.path, to.path})
			}
		}
	})
	slices.SortFunc(moves, func(a, b Move) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	return slices.Compact(moves)
}

// Strays are folders of tests that lost what makes them a package: where nothing
// runs a test that stands there, it runs none of those that do. The file that one
// leads to is not there.
func Strays(changes []Change) []Move {
	var strays []Move
	for _, c := range changes {
		dir := path.Dir(c.Path)
		left := func(other Change) bool { // the tests went with it
			return other.After == nil && path.Dir(other.Path) == dir && collected(other.Path)
		}
		if path.Base(c.Path) == "__init__.py" && c.After == nil && dir != "." && !slices.ContainsFunc(changes, left) {
			strays = append(strays, Move{c.Path, dir + "/test_ralph_looks.py"})
		}
	}
	return strays
}

// verbatim are the files that stand elsewhere now, word for word.
func verbatim(changes []Change) []Move {
	came := map[string]string{}
	for _, c := range changes {
		if c.Before == nil {
			came[string(c.After)] = c.Path
		}
	}
	var moves []Move
	for _, c := range changes {
		if to, is := came[string(c.Before)]; is && c.After == nil && len(bytes.TrimSpace(c.Before)) > 0 {
			moves = append(moves, Move{c.Path, to})
		}
	}
	return moves
}
