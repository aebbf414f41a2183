// Package tamper compares the files of two commits and says where the later
// one makes the project's own checks say less: tests that are gone or do not
// run, assertions that are gone or weaker, expected values that follow the
// code, rules, thresholds and commands that let more pass. It reads text and
// nothing else, runs nothing, and does not say who meant what.
//
// Go is read by its own parser. Python and JavaScript/TypeScript are read by
// two small readers of our own. There is no parser in pure Go to take instead:
// gpython stops at Python 3.4 and knows no f-string, the JavaScript parsers
// that are kept (tdewolff, goja) know no types and no JSX, esbuild's cannot be
// imported, tree-sitter needs C, and its young ports to Go bring a hundred
// grammars, load their tables when they are first used and set no bound to what a hostile file
// costs. What is asked here is also less than a grammar: which blocks, calls
// and literals there are, on which lines, in files that may be half written.
// Brackets, indentation, strings and comments answer that in one pass, in
// linear time, for every dialect, and never refuse a file.
package tamper

import (
	"cmp"
	"slices"
)

// Change is a file that differs. A side without a file is nil; an empty file
// is not. A side that nobody has read is empty, and said to be so.
type Change struct {
	Path          string
	Before, After []byte
	Unread        bool
}

// Limits of what is read: what is larger is machine-made, and is only looked
// at as a whole.
const (
	maxText   = 1 << 20 // of a file
	maxTotal  = 64 << 20
	maxReport = 500
)

// Find compares. Findings come sorted by file and line; at most 500 of them.
// A file that makes a reader fall over costs what is looked at with it and
// after it, and never the run.
func Find(changes []Change) []Finding {
	r := &report{}
	for _, look := range r.looks(changes) {
		safely(look)
	}
	return r.result()
}

func safely(do func()) {
	defer func() { _ = recover() }()
	do()
}

// looks are the parts of a comparison.
func (r *report) looks(changes []Change) []func() {
	return []func(){func() { r.read(changes) }, r.tests, r.foreign, r.compiled, r.hooked, r.lenient, r.patched, r.suppressions, r.snapshots, r.settings}
}

// report is a comparison under way.
type report struct {
	strict   bool // what is only like another explains nothing
	changes  []Change
	before   side
	after    side
	product  product
	findings []Finding
}

func (r *report) read(changes []Change) {
	changes = slices.Clone(changes)
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	r.changes = within(changes)
	r.before = readSide(r.changes, func(c Change) []byte { return c.Before })
	r.after = readSide(r.changes, func(c Change) []byte { return c.After })
	r.product = r.weigh()
}

// within keeps what there is to read bounded: what is too large counts as
// there, and as empty.
func within(changes []Change) []Change {
	total := 0
	for i := range changes {
		for _, text := range []*[]byte{&changes[i].Before, &changes[i].After} {
			total += len(*text)
			if len(*text) > maxText || total > maxTotal {
				*text = []byte{}
			}
		}
	}
	return changes
}

func (r *report) result() []Finding {
	slices.SortStableFunc(r.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.first(), b.first()), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Why, b.Why))
	})
	found := slices.CompactFunc(r.findings, func(a, b Finding) bool {
		return a.File == b.File && a.Kind == b.Kind && a.Why == b.Why && slices.Equal(a.Lines, b.Lines)
	})
	return found[:min(maxReport, len(found))]
}

func (r *report) add(f Finding) {
	if len(r.findings) < 4*maxReport {
		r.findings = append(r.findings, f)
	}
}

// change is the one of a path.
func (r *report) change(path string) Change {
	at, found := slices.BinarySearchFunc(r.changes, path, func(c Change, path string) int { return cmp.Compare(c.Path, path) })
	if !found {
		return Change{Path: path}
	}
	return r.changes[at]
}
