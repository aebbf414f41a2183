package tamper

import "strings"

// lenient reports a file of tests whose assertions compared strictly, and do not
// any more: node:assert/strict has the same names as node:assert.
func (r *report) lenient() {
	strict := map[string]bool{}
	for _, p := range r.before.pages {
		strict[p.path] = p.collects && p.strict() > 0
	}
	for _, p := range r.after.pages {
		if line := p.loosely(); strict[p.path] && p.strict() == 0 && line > 0 {
			r.add(Finding{p.path, AssertionWeakened, pick(r.change(p.path).After, true, line), "what was compared strictly is not any more"})
		}
	}
}

// strict is the line that has node's strict assertions; 0: none has.
func (p *page) strict() int {
	for i, w := range p.words {
		if p.language == script && (w.kind == text && strings.HasSuffix(w.text, "assert/strict") || w.is("strict") && i > 1 && strings.Contains(p.words[i-2].text+p.words[max(i-3, 0)].text, "assert")) {
			return w.line
		}
	}
	return 0
}

// loosely is the line that has node's other assertions, where any is used that
// means less there.
func (p *page) loosely() (line int) {
	used := false
	for i, w := range p.words {
		if w.kind == text && strings.TrimPrefix(w.text, "node:") == "assert" {
			line = w.line
		}
		used = used || w.is("equal", "deepEqual", "notEqual", "notDeepEqual") && i > 0 && p.words[i-1].is(".")
	}
	if !used {
		return 0
	}
	return line
}
