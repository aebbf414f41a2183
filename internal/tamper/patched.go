package tamper

import "strings"

// patches are the places where an assertion itself is given another body: every
// test that uses it then says what it is told to.
func (p *page) patches() []mark {
	var marks []mark
	for i, w := range p.words {
		if w.kind != name {
			continue
		}
		if p.language == python && p.patchedPython(i) || p.language == script && p.patchedScript(i) {
			marks = append(marks, mark{w.line, spoken(p.words[i:min(len(p.words), i+8)])})
		}
	}
	return marks
}

// patchedPython finds TestCase.assertEqual = … and setattr(TestCase, "assertEqual", …).
func (p *page) patchedPython(i int) bool {
	next := p.words[i+1 : min(len(p.words), i+4)]
	if !p.words[i].is("TestCase") || len(next) < 3 {
		return false
	}
	assertion := strings.HasPrefix(next[1].text, "assert") || next[1].is("run", "fail")
	if next[0].is(",") {
		return next[1].kind == text && (assertion || next[1].text == "run") && i > 1 && p.calledBy(i, "setattr")
	}
	return assertion && next[0].is(".") && next[2].is("=")
}

// calledBy tells whether the word at i stands in the first argument of a call.
func (p *page) calledBy(i int, called string) bool {
	for j := i - 1; j > 0 && j > i-4; j-- {
		if p.words[j].is("(") {
			return p.words[j-1].is(called)
		}
	}
	return false
}

// patchedScript finds assert.equal = … and globalThis.expect = ….
func (p *page) patchedScript(i int) bool {
	if i+3 >= len(p.words) || !p.words[i+1].is(".") || !p.words[i+3].is("=") || i > 0 && p.words[i-1].is(".") {
		return false
	}
	_, known := asserters[p.words[i+2].text]
	return p.words[i].is("assert") && known || p.words[i].is("global", "globalThis", "window") && p.words[i+2].is("expect", "assert", "test", "it", "describe")
}

// patched reports assertions that are replaced, in tests or in what they test.
func (r *report) patched() {
	known := map[string]int{}
	for _, p := range r.before.pages {
		for _, m := range p.patches() {
			known[m.text]++
		}
	}
	for _, p := range r.after.pages {
		for _, m := range p.patches() {
			if known[m.text]--; known[m.text] < 0 {
				r.add(Finding{p.path, AssertionRemoved, pick(r.change(p.path).After, true, m.line), "an assertion is replaced for all tests: " + short(m.text, 80)})
			}
		}
	}
}
