package tamper

import (
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// page is what a reader found in a file.
type page struct {
	path     string
	language language
	collects bool // a runner finds its tests
	tests    []*test
	helpers  []*test // functions that check and are no tests
	idle     []*test // functions that check nothing
	halts    []mark  // what keeps the whole file from running
	hooks    []mark  // variables that are given a function before any test runs
	remarks  []remark
	words    []word // all of them
	outside  []word // those outside tests and helpers
	defs     map[string]def
	loose    bag             // the values outside, once they were asked for
	fields   map[string]bool // names of members
}

// test is a test, or a helper of tests.
type test struct {
	page   *page
	group  string
	name   string
	line   int
	end    int
	words  []word
	checks []check
	skips  []mark
	only   []mark
	exits  []mark // ways to leave before what is checked
	rows   []row
	calls  []call
	empty  bool // a name without a body
	spec   bool // of ginkgo
	maybe  bool // defined only if something holds
	tester bool // it takes a *testing.T
}

// mark is something that stands on a line.
type mark struct {
	line int
	text string
}

// check is an assertion.
type check struct {
	line     int
	end      int
	force    force
	subject  []word // what is looked at
	expected []word // what it has to be
	words    []word // all of it
	slack    float64
	none     bool   // it asks that something is not so
	bound    int    // 1: expected is the most there may be, -1: the least
	dead     string // why it does not count; empty: it does
	via      string // the helper that has it
	what     string // how it is called
}

// force is how much a check asks for.
type force int

// The forces that have a name; others stand between them.
const (
	vain     force = 0  // it always holds
	presence force = 10 // something is there, an error happened
	flag     force = 12 // it is true, it is of this type
	partly   force = 20 // a part, a side, a kind
	sized    force = 25
	exact    force = 30
)

// row is a case of a table.
type row struct {
	line     int
	inputs   []word
	expected []word
}

func (r row) words() []word { return append(append([]word{}, r.inputs...), r.expected...) }

// call is a function of the tests' own that is called.
type call struct {
	name  string
	line  int
	words []word
}

// def is a definition.
type def struct {
	name  string
	heads []string
	body  []word
	parts []string // several where a name is given twice: two methods
}

func (d def) with(other def) def {
	d.heads, d.body, d.parts = append(d.heads, other.heads...), append(d.body, other.body...), append(d.parts, other.parts...)
	return d
}

func (t *test) key() string { return t.page.path + "\x00" + t.group + "\x00" + t.name }

func (t *test) title() string {
	if t.group == "" {
		return t.name
	}
	return t.group + " > " + t.name
}

// stopped tells whether the test does not run.
func (t *test) stopped() bool { return len(t.skips) > 0 || len(t.page.halts) > 0 }

// side is all files as they are on one side.
type side struct {
	pages   []*page
	tests   []*test
	helpers map[string]*test
	idle    map[string]*test // by path and name
}

// vendored is Go that others wrote: libraries that tests check with among it.
// Other versions come with another go.mod.
var vendored = pattern.Of(`(^|/)vendor/.*\.go$`)

func readSide(changes []Change, of func(Change) []byte) side {
	s := side{helpers: map[string]*test{}, idle: map[string]*test{}}
	bumped := slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == "go.mod" })
	for _, c := range changes {
		src := of(c)
		lent := noFolder.MatchString(c.Path)
		if src == nil || lent && (!vendored.MatchString(c.Path) || bumped) {
			continue
		}
		p := readPage(c.Path, src)
		if p == nil {
			continue
		}
		for _, h := range p.helpers {
			s.helpers[h.name] = h
		}
		for _, f := range p.idle {
			f.page = p
			s.idle[f.key()] = f
		}
		if lent {
			continue
		}
		s.pages = append(s.pages, p)
		s.tests = append(s.tests, p.tests...)
	}
	for _, t := range s.tests {
		t.checks = s.full(t)
	}
	return s
}

// readPage reads a file; nil where no reader knows its language.
func readPage(path string, src []byte) *page {
	p := &page{path: path, language: languageOf(path), collects: collected(path), defs: map[string]def{}, fields: map[string]bool{}}
	switch p.language {
	case golang:
		p.readGo(src)
	case python:
		p.readPython(src)
	case script:
		p.readScript(src)
	case noLanguage:
		return nil
	}
	for _, t := range append(append([]*test{}, p.tests...), p.helpers...) {
		t.page = p
		t.answered()
	}
	return p
}

// full are the checks of a test with those that its helpers make for it.
func (s side) full(t *test) []check {
	all := t.checks
	for _, c := range t.calls {
		h, known := s.helpers[c.name]
		if !known || h == t || len(all) > 400 {
			if opaque(c.name, t.page.language) {
				all = append(all, check{line: c.line, end: c.line, force: sized, words: c.words, subject: c.words, what: c.name})
			}
			continue
		}
		for _, made := range h.checks {
			made.line, made.end, made.via = c.line, c.line, h.name
			made.words = append(append([]word{}, made.words...), c.words...)
			made.subject = append(append([]word{}, made.subject...), c.words...)
			all = append(all, made)
		}
	}
	return all
}
