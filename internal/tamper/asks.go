package tamper

import "strings"

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
			w.kind == text && asked[w.text]:
			marks = append(marks, mark{w.line, spoken(here)})
		}
	}
	return marks
}
