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
		if p.language == python && p.patchedPython(i) || p.language == script && (p.patchedScript(i) || p.extended(i)) {
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

// extended finds expect.extend({toBe: …}): a matcher that everybody knows is
// given another meaning.
func (p *page) extended(i int) bool {
	if !p.words[i].is("expect") || i+4 >= len(p.words) || !p.words[i+2].is("extend") || !p.words[i+4].is("{") {
		return false
	}
	depth := 0
	for _, w := range p.words[i+4:] {
		_, known := scriptForces[w.text]
		switch {
		case w.is("{", "(", "["):
			depth++
		case w.is("}", ")", "]"):
			depth--
		case depth == 1 && known && uncalled.MatchString(w.text):
			return true
		}
		if depth == 0 {
			break
		}
	}
	return false
}

// ends are the places where a file of node's tests has the process end well,
// whatever they said.
func (p *page) ends() []mark {
	var marks []mark
	if p.language != script || !p.collects && !aside(p.path) {
		return nil
	}
	for i, w := range p.words {
		next := spoken(p.words[i:min(len(p.words), i+6)])
		if w.is("process") && (strings.HasPrefix(next, "process.exit(0)") || strings.HasPrefix(next, "process.exitCode = 0")) {
			marks = append(marks, mark{w.line, next})
		}
	}
	return marks
}

// patched reports assertions that are replaced, in tests or in what they test.
func (r *report) patched() {
	r.fresh((*page).patches, AssertionRemoved, "an assertion is replaced for all tests: ")
	r.fresh((*page).ends, AssertionRemoved, "the process ends well whatever the tests say: ")
	r.fresh((*page).asks, AssertionWeakened, "what is tested asks whether it is tested: ")
}

// fresh reports the marks of a kind that were nowhere before.
func (r *report) fresh(of func(*page) []mark, kind Kind, why string) {
	known := map[string]int{}
	for _, p := range r.before.pages {
		for _, m := range of(p) {
			known[m.text]++
		}
	}
	for _, p := range r.after.pages {
		for _, m := range of(p) {
			if known[m.text]--; known[m.text] < 0 {
				r.add(Finding{p.path, kind, pick(r.change(p.path).After, true, m.line), why + short(m.text, 80)})
			}
		}
	}
}
