package tamper

import (
	"slices"
	"strings"
)

// aligned is a check and what has become of it.
type aligned struct{ was, now check }

// checks compares the checks of a test.
func (r *report) checks(p pair, ev *evidence) {
	for _, a := range p.both {
		r.changed(p, a, ev)
	}
	r.wants(p)
	for i, c := range p.lost {
		if i < len(p.rest) {
			r.changed(p, aligned{c, p.rest[i]}, ev)
			continue
		}
		r.lost(p, c, ev)
	}
}

// align pairs the checks of a test.
func (p *pair) align() {
	was := slices.DeleteFunc(slices.Clone(p.was.checks), func(c check) bool { return c.dead != "" })
	p.both, p.lost, p.rest = align(was, p.now.checks)
}

// align pairs checks by what they say, in their order where that does not
// tell.
func align(was, now []check) (both []aligned, lost, rest []check) {
	was, now = was[:min(len(was), 250)], now[:min(len(now), 250)]
	later := make([]said, len(now))
	for i, c := range now {
		later[i] = saidBy(c)
	}
	var all []likely
	for a, c := range was {
		own := saidBy(c)
		for b := range now {
			if how := own.like(later[b]); how >= 0.5 {
				all = append(all, likely{a, b, how})
			}
		}
	}
	married, left, right := marry(len(was), len(now), all)
	for _, l := range married {
		both = append(both, aligned{was[l.a], now[l.b]})
	}
	return both, chosen(was, left), chosen(now, right)
}

// said is a check as it is compared.
type said struct {
	bag            bag
	subject, whole string
}

func saidBy(c check) said { return said{literals(c.words), joined(c.subject), joined(c.words)} }

func (s said) like(other said) float64 {
	switch {
	case s.whole == other.whole:
		return 3
	case s.subject == other.subject:
		return s.bag.likeness(other.bag) + 0.5
	default:
		return s.bag.likeness(other.bag)
	}
}

// changed looks at a check that is another now.
func (r *report) changed(p pair, a aligned, ev *evidence) {
	if a.was.via != "" && a.was.via == a.now.via {
		return // the helper itself is compared
	}
	title := short(p.now.title(), maxName)
	switch {
	case a.now.dead != "":
		if !ev.covers(a.was) {
			r.onBoth(p, a, AssertionRemoved, "a check of "+title+" does not count any more: "+a.now.dead)
		}
	case a.now.force+4 < a.was.force:
		r.weaker(p, a, ev, title)
	case a.now.slack > a.was.slack*1.5+1e-12 && (a.was.slack > 0 || a.now.slack > 0.01):
		r.onBoth(p, a, AssertionWeakened, "a check of "+title+" allows a wider tolerance")
	case looser(a):
		r.onBoth(p, a, AssertionWeakened, "a check of "+title+" has a looser bound")
	case r.strict && r.strays(p, a, ev):
		r.onBoth(p, a, AssertionRemoved, "a check of "+title+" is about something else now")
	case a.turned() || rewritten(a):
		if !r.explained(p) {
			r.onBoth(p, a, r.kindOf(a), "a check of "+title+" wants another value, and nothing that it tests has changed")
		}
	}
}

// turned tells whether the opposite is asked for.
func (a aligned) turned() bool {
	return a.was.none != a.now.none && a.was.force <= partly && a.now.force <= partly
}

func (r *report) kindOf(a aligned) Kind {
	if strings.Contains(a.was.what, "Snapshot") {
		return SnapshotRewritten
	}
	return ExpectedChanged
}

func (r *report) weaker(p pair, a aligned, ev *evidence, title string) {
	if a.was.none != a.now.none && a.now.force == presence && a.was.force <= sized && r.product.explains(p.now) {
		return // it fails no more, or fails now: the code says so too
	}
	if breaking[a.was.what] != breaking[a.now.what] && a.now.force >= partly && r.product.explains(p.now) {
		return // what gave a value fails now, as the code says
	}
	if sought(a) || emptied(a) || membered(a) {
		return
	}
	if ev.covers(a.was) || r.product.outlived(a.was.words) || r.passesOver(a) {
		return
	}
	why := "a check of " + title + " asks for less: " + short(a.was.what, 50) + " became " + short(a.now.what, 50)
	if a.now.force == vain {
		why = "a check of " + title + " always holds now"
	}
	r.onBoth(p, a, AssertionWeakened, why)
}

// breaking are the checks that something fails.
var breaking = set("raises assertRaises assertRaisesRegex toThrow toThrowError throw throws rejectedWith ErrorIs ErrorContains EqualError ErrorAs t.throws assert.throws assert.rejects")

// looser tells whether the number on the other side gives way.
func looser(a aligned) bool {
	if a.was.bound == 0 || a.was.bound != a.now.bound || joined(a.was.subject) != joined(a.now.subject) || len(a.was.expected) != 1 || len(a.now.expected) != 1 {
		return false
	}
	before, after := parse(a.was.expected[0].text), parse(a.now.expected[0].text)
	return float64(a.was.bound)*(after-before) > 0
}

// rewritten tells whether the same thing has to be another value.
func rewritten(a aligned) bool {
	if joined(a.was.subject) != joined(a.now.subject) || a.was.force < flag || len(a.was.expected) == 0 || len(a.now.expected) == 0 {
		return false
	}
	was, now := values(a.was.expected), values(a.now.expected)
	return len(was)+len(now) > 0 && !was.same(now) && plain(a.was.expected) == plain(a.now.expected) && squeezed(a.was.expected) != squeezed(a.now.expected)
}

// plain tells whether words are a value written out.
func plain(words []word) bool { return len(values(words)) > 0 }

// squeezed is a value without what only formats it.
func squeezed(words []word) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", `"`, "", "'", "", "Object {", "{", "Array [", "[").Replace(joined(words))), " ")
}

// explained tells whether another value is what one would expect: the code
// changed, or what the test puts in did.
func (r *report) explained(p pair) bool {
	if r.product.explains(p.now) || r.product.explains(p.was) || len(r.product.inputs) > 0 {
		return true
	}
	was, now := inputs(p.was), inputs(p.now)
	if !was.same(now) {
		return true
	}
	was, now = p.was.page.around(), p.now.page.around()
	return p.was.page.path == p.now.page.path && !was.same(now)
}

// around are the values outside of tests.
func (p *page) around() bag {
	if p.loose == nil {
		p.loose = values(p.outside)
	}
	return p.loose
}

// inputs are the values in a test that are not what it wants.
func inputs(t *test) bag {
	taken := t.taken()
	b := bag{}
	for _, w := range t.words {
		if !taken[w.line] && w.literal() {
			b[w.key()]++
		}
	}
	for _, c := range t.checks {
		b.add(values(c.subject))
	}
	for _, w := range t.rows {
		b.add(values(w.inputs))
	}
	return b
}

// same tells whether two bags hold the same keys, however often.
func (b bag) same(other bag) bool { return b.within(other) && other.within(b) }

func (b bag) add(other bag) {
	for key, n := range other {
		b[key] += n
	}
}

// taken are the lines of a test that say what it wants.
func (t *test) taken() map[int]bool {
	lines := map[int]bool{}
	for _, c := range t.checks {
		for line := c.line; line <= c.end && line < c.line+200; line++ {
			lines[line] = true
		}
	}
	for _, w := range t.rows {
		lines[w.line] = true
	}
	for _, a := range assigned(t.words) {
		lines[a.line] = true
	}
	return lines
}

// lost reports a check that is nowhere any more.
func (r *report) lost(p pair, c check, ev *evidence) {
	switch {
	case c.via != "" && r.after.helpers[c.via] != nil && calls(p.now, c.via), c.force == vain:
		return
	case included(c, p.now.checks), ev.covers(c), !p.was.page.produces() && r.product.outlived(c.words), c.force <= presence && r.signature(c.words):
		return
	}
	r.add(Finding{
		p.was.page.path, AssertionRemoved, pick(r.change(p.was.page.path).Before, false, span(c.line, c.end)...),
		"a check of " + short(p.now.title(), maxName) + " is gone: " + short(c.what+" "+spoken(c.subject), 80),
	})
}

// included tells whether a check goes without saying, as another that is still
// there looks at what is in it, or at all of it.
func included(c check, others []check) bool {
	own, subject := named(c.subject), joined(measured(c.subject))
	return len(own) > 0 && slices.ContainsFunc(others, func(o check) bool {
		switch {
		case o.dead != "":
			return false
		case c.force <= presence && !c.none:
			return o.force > flag && own.within(named(o.words))
		default:
			return c.force == sized && o.force == exact && whole(o.expected) && joined(o.subject) == subject
		}
	})
}

// measured takes a measure off what it measures: len(x) is about x.
func measured(subject []word) []word {
	if begins(subject, "len") && len(subject) > 3 {
		return subject[2 : len(subject)-1]
	}
	return subject
}

func calls(t *test, helper string) bool {
	return slices.ContainsFunc(t.calls, func(c call) bool { return c.name == helper })
}

// signature tells whether something that words call takes or gives something
// else now.
func (r *report) signature(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return r.product.head[w.text] })
}

// onBoth adds a finding about a check, with its lines on both sides.
func (r *report) onBoth(p pair, a aligned, kind Kind, why string) {
	lines := append(
		pick(r.change(p.was.page.path).Before, false, span(a.was.line, a.was.end)...),
		pick(r.change(p.now.page.path).After, true, span(a.now.line, a.now.end)...)...,
	)
	r.add(Finding{p.now.page.path, kind, lines, why})
}

// strays tells whether a check puts in other values now, and wants others: what
// it asked is asked nowhere any more.
func (r *report) strays(p pair, a aligned, ev *evidence) bool {
	put, want := values(a.was.subject), values(a.was.expected)
	if len(put) == 0 || len(want) == 0 || want.within(values(a.now.words)) || put.within(bagOf(p.now.words)) {
		return false
	}
	return !ev.covers(a.was) && !r.product.outlived(a.was.words)
}
