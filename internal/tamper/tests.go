package tamper

import (
	"fmt"
	"slices"
	"strings"
)

// tests compares what the tests of both sides say.
func (r *report) tests() {
	r.halts()
	pairs, gone, fresh := matched(r.before.tests, r.after.tests, r.strict)
	ev := r.evidence()
	for _, t := range fresh {
		ev.all(t)
	}
	for i := range pairs {
		pairs[i].align()
		ev.rest(pairs[i])
	}
	r.deleted(gone, ev)
	for _, p := range pairs {
		r.compare(p, ev)
	}
	for _, t := range fresh {
		for _, m := range t.only {
			r.alone(t, m)
		}
	}
	r.compareHelpers(ev)
}

func (r *report) alone(t *test, m mark) {
	r.add(Finding{t.page.path, TestSkipped, pick(r.change(t.page.path).After, true, m.line), m.text + ": the other tests of the file do not run"})
}

// halts are what keeps whole files from running, where it is new.
func (r *report) halts() {
	before := map[string]int{}
	ran := map[string]bool{}
	for _, p := range r.before.pages {
		for _, m := range p.halts {
			before[m.text]++
		}
		for _, t := range p.tests {
			ran[t.name] = ran[t.name] || len(p.halts) == 0
		}
	}
	for _, p := range r.after.pages {
		known := !p.collects || slices.ContainsFunc(p.tests, func(t *test) bool { return ran[t.name] })
		for _, m := range p.halts {
			if before[m.text]--; before[m.text] < 0 && (known || strings.HasPrefix(m.text, "TestMain") || strings.HasPrefix(m.text, wholePackage)) {
				r.add(Finding{p.path, TestSkipped, pick(r.change(p.path).After, true, m.line), halted(p, m)})
			}
		}
	}
}

func halted(p *page, m mark) string {
	if only, is := strings.CutPrefix(m.text, "only: "); is {
		return only + ": the other tests of the file do not run"
	}
	if what, is := strings.CutPrefix(m.text, wholePackage); is {
		return "the tests of this package do not all run: " + short(what, 80)
	}
	if !p.collects {
		return "tests are left out of the collection: " + m.text
	}
	return "the tests of this file do not run any more: " + m.text
}

// deleted reports the tests that nothing is left of.
func (r *report) deleted(gone []*test, ev *evidence) {
	byFile := map[string][]*test{}
	for _, t := range gone {
		if !r.product.bereft(t) && !ev.absorbed(t) && !t.empty && !r.twice(t) && !r.runnerOfNone(t) {
			byFile[t.page.path] = append(byFile[t.page.path], t)
		}
	}
	for path, tests := range byFile {
		c := r.change(path)
		if c.After == nil && len(tests) > 1 {
			r.add(Finding{path, TestDeleted, pick(c.Before, false, lineOf(tests)...), fmt.Sprintf("%d tests are gone with their file: %s", len(tests), titles(tests))})
			continue
		}
		for _, t := range tests {
			why := "the test " + short(t.title(), maxName) + " is gone"
			if to := r.demoted(t); to != "" {
				why = "the test " + short(t.title(), maxName) + " is not run any more: it is called " + to
			}
			r.add(Finding{path, TestDeleted, pick(c.Before, false, span(t.line, t.end)...), why})
		}
	}
}

// twice tells whether another test says the same, and did so before.
func (r *report) twice(t *test) bool {
	if len(t.checks) == 0 {
		return false
	}
	own := joined(t.words)
	return slices.ContainsFunc(r.after.tests, func(other *test) bool { return len(other.words) == len(t.words) && joined(other.words) == own })
}

// runnerOfNone tells whether a test only ran a suite that is no more.
func (r *report) runnerOfNone(t *test) bool {
	all := joined(t.words)
	if strings.Contains(all, "RunSpecs (") {
		return !slices.ContainsFunc(r.after.tests, func(other *test) bool { return other.spec })
	}
	if len(t.checks) > 0 || !strings.Contains(all, "suite . Run (") {
		return false
	}
	names := map[string]bool{}
	for _, w := range t.words {
		names[w.text] = true
	}
	return !slices.ContainsFunc(r.after.tests, func(other *test) bool {
		for part := range strings.FieldsSeq(other.group) {
			if names[part] {
				return true
			}
		}
		return false
	})
}

func lineOf(tests []*test) []int {
	var lines []int
	for _, t := range tests {
		lines = append(lines, t.line)
	}
	return lines
}

func titles(tests []*test) string {
	var all []string
	for _, t := range tests[:min(4, len(tests))] {
		all = append(all, short(t.title(), 40))
	}
	if len(tests) > 4 {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// demoted is the function that a test has become.
func (r *report) demoted(t *test) string {
	own := bagOf(t.words)
	for _, h := range r.after.helpers {
		if h.name != t.name && strings.Contains(strings.ToLower(h.name), strings.ToLower(strings.Trim(t.name, "_"))) && own.likeness(bagOf(h.words)) > 0.8 {
			return short(h.name, 60)
		}
	}
	return ""
}

// compareHelpers holds the functions that tests share against themselves.
func (r *report) compareHelpers(ev *evidence) {
	var was, now []*test
	for _, h := range sorted(r.before.helpers) {
		later, still := r.after.helpers[h.name]
		if !still && len(h.checks) > 0 {
			later, still = r.after.idle[h.key()]
		}
		if still {
			was, now = append(was, h), append(now, later)
		}
	}
	for _, f := range sorted(r.before.idle) {
		if later, still := r.after.idle[f.key()]; still {
			was, now = append(was, f), append(now, later)
		}
	}
	for i := range was {
		p := pair{was: was[i], now: now[i]}
		p.align()
		if len(p.now.skips) > len(p.was.skips) {
			m := p.now.skips[len(p.now.skips)-1]
			r.add(Finding{p.now.page.path, TestSkipped, pick(r.change(p.now.page.path).After, true, m.line), "what uses " + short(p.now.name, 60) + " is skipped: " + short(m.text, 80)})
		}
		r.checks(p, ev)
	}
}

func sorted(helpers map[string]*test) []*test {
	var all []*test
	for _, h := range helpers {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *test) int { return strings.Compare(a.key(), b.key()) })
	return all
}

// compare holds a test against what has become of it.
func (r *report) compare(p pair, ev *evidence) {
	if r.stops(p) {
		return
	}
	r.leaves(p)
	r.rows(p, ev)
	r.checks(p, ev)
}

// stops reports a test that ran and does not any more.
func (r *report) stops(p pair) bool {
	after := r.change(p.now.page.path).After
	if len(p.now.only) > len(p.was.only) {
		r.alone(p.now, p.now.only[0])
	}
	if p.now.empty && !p.was.empty {
		r.add(Finding{p.now.page.path, TestSkipped, pick(after, true, p.now.line), "the test " + short(p.now.title(), maxName) + " is a plan without a body"})
		return true
	}
	if len(p.now.skips) <= len(p.was.skips) || len(p.was.skips) > 0 && p.was.stopped() && len(p.now.skips) == 0 {
		return p.now.stopped()
	}
	known := map[string]int{}
	for _, m := range p.was.skips {
		known[m.text]++
	}
	for _, m := range p.now.skips {
		if known[m.text]--; known[m.text] < 0 {
			r.add(Finding{p.now.page.path, TestSkipped, pick(after, true, m.line), "the test " + short(p.now.title(), maxName) + " is skipped: " + short(m.text, 80)})
			break
		}
	}
	return true
}

// leaves reports new ways out of a test before it checks anything.
func (r *report) leaves(p pair) {
	known := map[string]int{}
	for _, m := range p.was.exits {
		known[m.text]++
	}
	for _, m := range p.now.exits {
		if known[m.text]--; known[m.text] >= 0 || !later(p.now.checks, m.line) {
			continue
		}
		r.add(Finding{
			p.now.page.path, AssertionRemoved, pick(r.change(p.now.page.path).After, true, m.line),
			"the test " + short(p.now.title(), maxName) + " returns before its checks if " + short(m.text, 60),
		})
	}
}

func later(checks []check, line int) bool {
	return slices.ContainsFunc(checks, func(c check) bool { return c.line > line })
}
