package plan

import "github.com/yuin/goldmark/ast"

// headings makes a story of every deepest heading with a list under it, or
// with criteria of its own.
func (d *draft) headings() []entry {
	var entries []entry
	for _, own := range d.owned() {
		first := own[0]
		e := entry{title: first.title, at: first.at}
		for _, s := range own[1:] {
			if s.role == criteria {
				e.criteria = append(e.criteria, d.stated(s)...)
			}
		}
		if len(e.criteria) == 0 {
			e.criteria = d.listed(first)
		}
		e.about = d.told(own)
		entries = append(entries, e)
	}
	return entries
}

// owned gathers for each story its section and those that stand under it.
func (d *draft) owned() [][]section {
	story := d.storied()
	slot := make([]int, len(d.sections))
	var owned [][]section
	for i, s := range d.sections {
		up := i
		for up >= 0 && !story[up] {
			up = d.sections[up].parent
		}
		switch {
		case up == i:
			slot[i] = len(owned)
			owned = append(owned, []section{s})
		case up >= 0:
			owned[slot[up]] = append(owned[slot[up]], s)
		}
	}
	return owned
}

// storied tells which sections are stories.
func (d *draft) storied() []bool {
	story := make([]bool, len(d.sections))
	for i, s := range d.sections {
		switch {
		case s.role == criteria && s.parent >= 0 && len(s.blocks) > 0:
			up := d.sections[s.parent]
			story[s.parent] = up.title != "" && up.role == work
		case s.role == work && s.title != "" && len(s.lists()) > 0:
			story[i] = true
		}
	}
	d.deepest(story)
	return story
}

// deepest leaves only the stories that no other story stands under.
func (d *draft) deepest(story []bool) {
	for i, s := range d.sections {
		if !story[i] {
			continue
		}
		for up := s.parent; up >= 0; up = d.sections[up].parent {
			story[up] = false
		}
	}
}

// told is what a story's sections say beside its criteria.
func (d *draft) told(own []section) []string {
	var about []string
	for i, s := range own {
		if i == 0 || s.role == criteria {
			s.level = 0 // its title is said already
		}
		about = append(about, s.text(d.page, d.used))
		for _, b := range s.blocks {
			d.used[b] = true
		}
	}
	return about
}

// listed takes the lists of a section for criteria.
func (d *draft) listed(s section) []string {
	var all []string
	for _, list := range s.lists() {
		found := d.criteria(list)
		d.used[list] = len(found) > 0
		all = append(all, found...)
	}
	return all
}

// stated takes a section of criteria: its lists, or its lines where it has none.
func (d *draft) stated(s section) []string {
	if all := d.listed(s); len(all) > 0 {
		return all
	}
	var all []string
	for _, b := range s.blocks {
		if b.Kind() == ast.KindParagraph {
			all = append(all, nonBlank(d.page.block(b))...)
			d.used[b] = true
		}
	}
	return all
}

// single makes one story of the whole: its criteria stand under a heading of
// their own, or else are what is listed in the text.
func (d *draft) single(title string) (Source, []entry) {
	e := entry{title: title}
	from := SourcePlain
	for _, s := range d.sections {
		if s.role == criteria {
			e.criteria = append(e.criteria, d.stated(s)...)
		}
	}
	if len(e.criteria) > 0 {
		from = SourceHeadings
	} else {
		e.criteria = d.listed(d.sections[0])
	}
	if rest := d.rest(); rest != title {
		e.about = []string{rest}
	}
	return from, []entry{e}
}
