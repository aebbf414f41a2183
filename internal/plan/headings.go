package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

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

// section is a heading and what stands under it, up to the next heading.
type section struct {
	level  int // 0 above the first heading
	title  string
	role   role
	at     int  // offset in the body
	parent int  // the section it stands under, or -1
	empty  bool // a form field without an answer
	blocks []ast.Node
}

// role is what the lists of a section are, as far as its title tells.
type role int

const (
	work     role = iota // stories, or their criteria
	tasks                // a story an item, boxes or not
	criteria             // criteria of what the section stands under
	talk                 // no stories, but for boxes to tick
	aside                // no stories at all
)

// labelLevel is deeper than any heading: a line that reads "Acceptance
// criteria:" does a heading's work for what follows.
const labelLevel = 7

// outline cuts a page into sections. Comments, other HTML and form fields left
// empty are gone.
func outline(p page) []section {
	sections := []section{{parent: -1}}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if s, ok := opens(p, n); ok {
			s.parent = parent(sections, s.level)
			if s.parent >= 0 && slices.Contains([]role{criteria, aside}, sections[s.parent].role) {
				s.role = sections[s.parent].role
			}
			sections = append(sections, s)
			continue
		}
		last := &sections[len(sections)-1]
		switch p.block(n) {
		case "":
		case unanswered:
			last.empty = true
		default:
			last.blocks = append(last.blocks, n)
		}
	}
	return sections
}

func opens(p page, n ast.Node) (section, bool) {
	switch n := n.(type) {
	case *ast.Heading:
		title := p.plain(n)
		return section{level: n.Level, title: title, role: roles[name(title)], at: start(n)}, true
	case *ast.Paragraph:
		title := p.plain(n)
		return section{level: labelLevel, title: title, role: criteria, at: start(n)}, isCriteria(title)
	default:
		return section{}, false
	}
}

// parent is the nearest heading above that is less deep.
func parent(sections []section, level int) int {
	i := len(sections) - 1
	for i > 0 && sections[i].level >= level {
		i = sections[i].parent
	}
	if i == 0 {
		return -1
	}
	return i
}

// roles are what people call their headings.
var roles = named(map[role]string{
	tasks: "stories, user stories, tasks, task list, to do, todo",
	criteria: "acceptance criteria, acceptance criterion, acceptance, criteria, definition of done, dod, " +
		"done when, requirements",
	talk: "context, background, motivation, summary, description, overview, notes, steps to reproduce, " +
		"to reproduce, how to reproduce, reproduction, expected behavior, expected behaviour, " +
		"actual behavior, actual behaviour, current behavior, current behaviour, environment, versions, " +
		"additional context, additional information, references, links, related, screenshots, logs, " +
		"questions, open questions, risks, alternatives",
	aside: "out of scope, not in scope, non goals, non-goals, code of conduct, before you start, " +
		"before you submit, before submitting",
})

func named(titles map[role]string) map[string]role {
	all := map[string]role{}
	for r, list := range titles {
		for title := range strings.SplitSeq(list, ", ") {
			all[title] = r
		}
	}
	return all
}

func isCriteria(title string) bool { return roles[name(title)] == criteria }

// name is a title without its case, colon, numbering and ornaments.
func name(title string) string {
	return strings.ToLower(strings.TrimFunc(title, func(r rune) bool { return !unicode.IsLetter(r) }))
}

func (s section) lists() []*ast.List {
	var lists []*ast.List
	for _, b := range s.blocks {
		if l, ok := b.(*ast.List); ok {
			lists = append(lists, l)
		}
	}
	return lists
}

// text is the section as Markdown, without the blocks that were used up; a
// heading with nothing left under it goes too.
func (s section) text(p page, used map[ast.Node]bool) string {
	var parts []string
	for _, b := range s.blocks {
		if !used[b] {
			parts = append(parts, p.block(b))
		}
	}
	switch {
	case len(parts) == 0 || s.level == 0:
	case s.level == labelLevel:
		parts = slices.Insert(parts, 0, s.title)
	default:
		parts = slices.Insert(parts, 0, strings.Repeat("#", s.level)+" "+s.title)
	}
	return strings.Join(parts, "\n\n")
}
