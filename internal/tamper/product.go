package tamper

import (
	"path"
	"slices"
	"strings"
)

// product is how the code under test changed, as far as it is in view.
type product struct {
	any     bool            // something other than tests may behave in another way
	changed map[string]bool // definitions that were there and do something else now
	seen    map[string]bool // definitions in the files that changed
	gone    map[string]bool // names, members and texts that are no more
	goneDef map[string]bool // definitions that are no more, under no other name either
	head    map[string]bool // definitions that take or give something else
	files   map[string]bool // the stems of files that are no more
	inputs  map[string]bool // the folders of fixtures that changed
	tried   int
	pages   map[*page]reach
}

// weigh looks at all that changed and is no test.
func (r *report) weigh() product {
	p := product{
		changed: map[string]bool{}, seen: map[string]bool{}, gone: map[string]bool{}, goneDef: map[string]bool{},
		pages: map[*page]reach{}, head: map[string]bool{}, files: map[string]bool{}, inputs: map[string]bool{},
	}
	was, now := map[string]def{}, map[string]def{}
	collect(r.before.pages, was)
	collect(r.after.pages, now)
	p.compare(was, now)
	p.vanish(r.before.pages, r.after.pages, now)
	for _, c := range r.changes {
		p.other(c)
	}
	p.spread(was)
	return p
}

func collect(pages []*page, into map[string]def) {
	for _, p := range pages {
		if !p.produces() || len(rolesOf(p.path)) > 0 {
			continue
		}
		for called, d := range p.defs {
			if old, twice := into[called]; twice {
				d = old.with(d)
			}
			into[called] = d
		}
	}
}

func (p *product) compare(was, now map[string]def) {
	for called, d := range was {
		p.seen[called] = true
		later, still := now[called]
		switch {
		case !still:
			p.any = true
			p.changed[called] = true
			if !p.renamed(d, was, now) {
				p.goneDef[called], p.gone[called] = true, true
			}
		default:
			heads := !slices.Equal(later.heads, d.heads)
			if heads || !slices.Equal(later.parts, d.parts) {
				p.any, p.changed[called] = true, true
			}
			p.head[called] = heads
		}
	}
}

// renamed tells whether a definition has another name now.
func (p *product) renamed(d def, was, now map[string]def) bool {
	own := bagOf(d.body)
	delete(own, d.name)
	if own.size() < 3 {
		return false
	}
	for called, other := range now {
		if _, old := was[called]; old || p.tried > 20000 {
			continue
		}
		p.tried++
		theirs := bagOf(other.body)
		delete(theirs, called)
		if own.likeness(theirs) > 0.75 {
			return true
		}
	}
	return false
}

// vanish finds the members, parameters and texts that the code had and has no
// more.
func (p *product) vanish(was, now []*page, defs map[string]def) {
	left := map[string]bool{}
	for _, n := range now {
		if n.produces() {
			for _, w := range n.words {
				left[w.key()] = true
			}
		}
	}
	gone := func(key string) {
		if _, still := defs[key]; !still && !left[key] {
			p.gone[key] = true
		}
	}
	for _, b := range was {
		if b.produces() {
			p.missed(b, gone)
		}
	}
}

func (p *page) produces() bool { return !p.collects && !aside(p.path) }

func (p *product) missed(b *page, gone func(string)) {
	for called, d := range b.defs {
		if !p.head[called] {
			continue
		}
		for part := range strings.FieldsSeq(strings.Join(d.heads, " ")) {
			if letter(part[0]) {
				gone(part)
			}
		}
	}
	for field := range b.fields {
		gone(field)
	}
	for _, w := range b.words {
		if w.kind == text && len(w.text) >= 3 {
			gone(w.key())
		}
	}
}

// other looks at what is no source of the three languages.
func (p *product) other(c Change) {
	known := languageOf(c.Path) != noLanguage
	if known && c.After == nil && produces(c.Path) {
		base := path.Base(c.Path)
		p.files[strings.TrimSuffix(base, path.Ext(base))] = true
	}
	if fixtureName.MatchString(c.Path) || aside(c.Path) && !known {
		if !snapshot(c.Path) && (c.Before != nil) {
			p.inputs[path.Dir(c.Path)] = true
		}
		return
	}
	if known || c.Before == nil || prose(c.Path) {
		return
	}
	switch {
	case dependencies(c):
		p.any = true
		p.inputs[""] = true
	case len(rolesOf(c.Path)) == 0 && !snapshot(c.Path) && !strings.HasPrefix(path.Base(c.Path), "."):
		p.any = true
		p.inputs[""] = true
	}
}

var locks = set("go.mod go.sum package-lock.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock requirements.txt Pipfile.lock Cargo.lock bun.lock")

// dependencies tells whether a change brings other versions of what the code
// is built on.
func dependencies(c Change) bool {
	base := path.Base(c.Path)
	if locks[base] || strings.HasPrefix(base, "requirements") {
		return true
	}
	if base != "package.json" && base != "pyproject.toml" {
		return false
	}
	for _, line := range c.came() {
		if bumped.MatchString(line.Text) && !strings.HasPrefix(strings.Trim(line.Text, `" `), "version") {
			return true
		}
	}
	return false
}

// spread carries a change to what calls it, in the files that are in view.
func (p *product) spread(was map[string]def) {
	for range 5 {
		grown := false
		for called, d := range was {
			if !p.changed[called] && slices.ContainsFunc(d.body, func(w word) bool { return w.kind == name && p.changed[w.text] && w.text != called }) {
				p.changed[called], grown = true, true
			}
		}
		if !grown {
			return
		}
	}
}

// explains tells whether the code may well have made a test want another
// value: something of it changed, and if what the test calls is in view, that
// did.
func (p *product) explains(t *test) bool {
	if !p.any {
		return false
	}
	around, known := p.pages[t.page]
	if !known {
		around = p.reach(t.page.outside)
		p.pages[t.page] = around
	}
	own := p.reach(t.words)
	return own.changed || around.changed || !own.seen && !around.seen && (len(p.changed) > 0 || p.inputs[""])
}

// reach is what of the code words name.
type reach struct{ changed, seen bool }

func (p *product) reach(words []word) reach {
	var found reach
	for _, w := range words {
		if w.kind == name && p.seen[w.text] {
			found.seen = true
			found.changed = found.changed || p.changed[w.text]
		}
	}
	return found
}

// outlived tells whether words name something that is no more.
func (p *product) outlived(words []word) bool {
	for _, w := range words {
		if w.kind != number && p.gone[w.key()] {
			return true
		}
	}
	return false
}

// bereft tells whether a test has lost what it tests.
func (p *product) bereft(t *test) bool {
	for _, w := range t.words {
		switch {
		case w.kind == name && p.goneDef[w.text]:
			return true
		case w.kind == text && len(w.text) >= 4 && p.gone[w.key()]:
			return true
		}
	}
	if len(p.files) == 0 {
		return false
	}
	base := path.Base(t.page.path)
	for stem := range p.files {
		if strings.Contains(base, stem) {
			return true
		}
	}
	for _, w := range t.page.words[:min(2000, len(t.page.words))] {
		if w.kind == text && p.files[path.Base(strings.TrimSuffix(w.text, path.Ext(w.text)))] || w.kind == name && p.files[w.text] {
			return true
		}
	}
	return false
}
