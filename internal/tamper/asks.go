package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// asked are the texts by which a program finds out that it is being tested.
var asked = set("PYTEST_CURRENT_TEST PYTEST_VERSION JEST_WORKER_ID VITEST VITEST_WORKER_ID VITEST_POOL_ID NODE_TEST_CONTEXT test.v test.run")

// asks are the places where what is tested asks whether it is: what it does then
// is shown of nothing else.
func (p *page) asks() []mark {
	var marks []mark
	if !p.produces() || len(rolesOf(p.path)) > 0 || strings.Contains(p.path, "test") {
		return nil
	}
	for i, w := range p.words {
		here := p.words[i:min(len(p.words), i+5)]
		said := joined(here)
		switch {
		case p.language == golang && strings.HasPrefix(said, "testing . Testing ("),
			p.language == python && w.kind == text && (w.text == "pytest" || w.text == "unittest") && strings.HasSuffix(said, "in sys . modules"),
			p.language == script && w.kind == name && asked[w.text] && i > 0 && p.words[i-1].is("."),
			w.kind == text && asked[w.text],
			w.kind != sign && ofTests.MatchString(w.text) && p.looks(i):
			marks = append(marks, mark{w.line, spoken(here)})
		}
	}
	return marks
}

// ofTests is how a program that runs tests, or a file of them, is called.
var ofTests = pattern.Of(`(?i)[._](test|spec)s?(\\?\.(exe|go|py|[cm]?[jt]sx?))?[$/]*$|\b(pytest|unittest)\b|^test_.*\.py$`)

// looking are the ways to find out by which program one runs, or what lies beside.
var looking = set("Args Executable argv orig_argv Stat Lstat Glob existsSync statSync exists isfile is_file")

// looks tells whether the words around one find out what runs here.
func (p *page) looks(at int) bool {
	const near = 12
	return slices.ContainsFunc(p.words[max(at-near, 0):min(at+near, len(p.words))], func(w word) bool { return w.kind == name && looking[w.text] })
}

// compiledFor is how a program in Rust is another one where it is tested; its
// tests are, too.
var compiledFor = pattern.Of(`\bcfg!\s*\([^)]*\btest\b|#\[cfg(_attr)?\([^\]]*\bnot\s*\(\s*test\s*\)`)

// compiled reports code that is not there, or otherwise, where it is tested.
func (r *report) compiled() {
	for _, c := range r.changes {
		if path.Ext(c.Path) != ".rs" || foreignTest.MatchString(c.Path) {
			continue
		}
		for _, line := range c.came() {
			if compiledFor.MatchString(line.Text) {
				r.add(Finding{c.Path, AssertionWeakened, trim([]Line{line}), "what is tested asks whether it is tested: " + short(line.Text, 80)})
			}
		}
	}
}
