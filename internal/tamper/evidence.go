package tamper

import (
	"path"
	"slices"
	"strings"
)

// evidence is all that tests say now and did not say before, wherever: what
// moved there is not lost.
type evidence struct {
	checks []proof
	rows   []bag
	bodies []bag
	asked  int
	strict bool     // likeness counts for nothing
	data   []string // new files of data
}

// proof is a check that is new where it stands.
type proof struct {
	check
	bag  bag
	page *page
}

func (r *report) evidence() *evidence {
	ev := &evidence{strict: r.strict}
	for _, c := range r.changes {
		if c.Before == nil && dataEnds[path.Ext(c.Path)] {
			ev.data = append(ev.data, string(c.After))
		}
	}
	old, oldRows := map[string]int{}, map[string]int{}
	each(r.before, func(t *test) {
		for _, c := range t.checks {
			old[joined(c.words)]++
		}
		for _, w := range t.rows {
			oldRows[joined(w.words())]++
		}
	})
	each(r.after, func(t *test) { ev.fresh(t, old, oldRows) })
	return ev
}

// fresh takes in what a test says in words that no test had.
func (ev *evidence) fresh(t *test, old, oldRows map[string]int) {
	ev.bodies = append(ev.bodies, bagOf(t.words))
	for _, c := range t.checks {
		key := joined(c.words)
		if old[key]--; old[key] < 0 {
			ev.take(t, c)
		}
	}
	for _, w := range t.rows {
		key := joined(w.words())
		if oldRows[key]--; oldRows[key] < 0 {
			ev.rows = append(ev.rows, literals(w.words()))
		}
	}
}

// all takes in the checks of a test that is new.
func (ev *evidence) all(t *test) {
	for _, c := range t.checks {
		ev.take(t, c)
	}
}

// rest takes in the checks of a test that it did not have.
func (ev *evidence) rest(p pair) {
	for _, c := range p.rest {
		ev.take(p.now, c)
	}
}

func (ev *evidence) take(t *test, c check) {
	if c.dead == "" && len(t.skips) == 0 && c.force > vain {
		ev.checks = append(ev.checks, proof{c, literals(c.words), t.page})
	}
}

func each(s side, do func(*test)) {
	for _, t := range s.tests {
		do(t)
	}
	for _, h := range sorted(s.helpers) {
		do(h)
	}
}

// literals are the values and names that make a check this one.
func literals(words []word) bag {
	b := bag{}
	for _, w := range words {
		if w.kind == sign || common[w.text] && w.kind == name && !w.literal() {
			continue
		}
		if _, vocabulary := goForces[w.text]; vocabulary && w.kind == name {
			continue
		}
		if _, vocabulary := pythonForces[w.text]; vocabulary {
			continue
		}
		if _, vocabulary := scriptForces[w.text]; vocabulary && w.kind == name && len(w.text) > 2 {
			continue
		}
		b[w.key()]++
	}
	return b
}

// values are the literals among words.
func values(words []word) bag {
	b := bag{}
	for _, w := range words {
		if w.kind == number || w.kind == text || w.literal() {
			b[w.key()]++
		}
	}
	return b
}

func (b bag) within(other bag) bool {
	for key := range b {
		if other[key] == 0 {
			return false
		}
	}
	return true
}

// covers tells whether a lost check is made somewhere else now.
func (ev *evidence) covers(c check) bool {
	own, values := literals(c.words), values(c.words)
	if ev.asked += len(ev.checks) + len(ev.rows); ev.asked > maxAsked {
		return false
	}
	for _, p := range ev.checks {
		all := len(values) > 0 && values.within(p.bag)
		switch {
		case p.force >= sized && rare(values) && (all || values.partsOf(p.bag)):
			return true
		case p.force+4 < c.force:
		case ev.strict && (own.within(p.bag) || p.same(c)), !ev.strict && p.like(c, own, all):
			return true
		}
	}
	if len(values) > 1 || len(values) == 1 && (!ev.strict || rare(values)) {
		return slices.ContainsFunc(ev.rows, values.within)
	}
	return false
}

// like tells whether a new check looks much like a lost one, of which own is
// what makes it this one; all says that it has its values.
func (p proof) like(c check, own bag, all bool) bool {
	like, subject := own.likeness(p.bag), named(c.subject)
	return like >= 0.6 || like >= 0.34 && all ||
		p.force >= exact && len(subject) > 0 && subject.within(p.bag) && (whole(p.expected) || whole(p.subject))
}

// same tells whether a new check looks at the very thing that a lost one did,
// and says so by a value: then it may well want another result.
func (p proof) same(c check) bool {
	subject := literals(c.subject)
	return p.force >= exact && len(values(c.subject)) > 0 && subject.within(p.bag)
}

var dataEnds = set(".json .yaml .yml .csv .tsv .txt .toml .xml .jsonl")

// written tells whether all values stand in one new file of data.
func (ev *evidence) written(values bag) bool {
	return len(values) > 0 && slices.ContainsFunc(ev.data, func(text string) bool {
		for key := range values {
			if !strings.Contains(text, strings.TrimPrefix(key, `"`)) {
				return false
			}
		}
		return true
	})
}

// named are the names that say what a check looks at.
func named(subject []word) bag {
	b := bag{}
	for _, w := range subject {
		if w.kind == name && !w.literal() && !measures[w.text] {
			b[w.text]++
		}
	}
	return b
}

var measures = set("len length size count list sorted set tuple str String")

// maxAsked bounds what is compared in all: no honest change comes near.
const maxAsked = 1 << 20

// rare tells whether values are such that nobody meets them by chance.
func rare(values bag) bool {
	for key := range values {
		if len(key) < 4 || key[0] != '"' && len(key) < 5 {
			return false
		}
	}
	return len(values) > 0
}

// partsOf tells whether each text is a part of one in another bag.
func (b bag) partsOf(other bag) bool {
	for key := range b {
		found := false
		for longer := range other {
			text, is := strings.CutPrefix(longer, `"`)
			found = found || is && len(key) > 5 && strings.Contains(text, key[1:])
		}
		if !found {
			return false
		}
	}
	return true
}

// whole tells whether a value is one of many parts.
func whole(expected []word) bool {
	for _, w := range expected {
		if w.is("{", "[", "(") {
			return true
		}
	}
	return len(expected) == 1 && expected[0].kind == name && !expected[0].literal()
}

// absorbed tells whether a test lives on as parts of others.
func (ev *evidence) absorbed(t *test) bool {
	checks, found := 0, 0
	for _, c := range t.checks {
		if c.dead != "" {
			continue
		}
		checks++
		if ev.covers(c) {
			found++
		}
	}
	if checks > 0 {
		return found*5 >= checks*4
	}
	own := bagOf(t.words)
	if ev.asked += own.size() * len(ev.bodies) / 8; ev.asked > maxAsked {
		return false
	}
	for _, b := range ev.bodies {
		if own.size() >= 4 && own.shared(b)*5 >= own.size()*4 {
			return true
		}
	}
	return false
}
