package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// headingEntries makes a story of every deepest heading with a list under it, or
// with criteria of its own.
func (d *drafter) headingEntries() []entry {
	var entries []entry
	for _, own := range d.storySections() {
		first := own[0]
		e := entry{title: first.title, offset: first.offset}
		for _, s := range own[1:] {
			if s.role == roleCriteria {
				e.criteria = append(e.criteria, d.sectionCriteria(s)...)
			}
		}
		if len(e.criteria) == 0 {
			e.criteria = d.listCriteria(first)
		}
		e.about = d.description(own)
		entries = append(entries, e)
	}
	return entries
}

// storySections gathers for each story its section and those that stand under it.
func (d *drafter) storySections() [][]section {
	story := d.areStories()
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

func (d *drafter) areStories() []bool {
	story := make([]bool, len(d.sections))
	for i, s := range d.sections {
		switch {
		case s.role == roleCriteria && s.parent >= 0 && len(s.blocks) > 0:
			up := d.sections[s.parent]
			story[s.parent] = up.title != "" && up.role == roleStories
		case s.role == roleStories && s.title != "" && len(s.lists()) > 0:
			story[i] = true
		}
	}
	d.keepDeepest(story)
	return story
}

// keepDeepest leaves only the stories that no other story stands under.
func (d *drafter) keepDeepest(story []bool) {
	for i, s := range d.sections {
		if !story[i] {
			continue
		}
		for up := s.parent; up >= 0; up = d.sections[up].parent {
			story[up] = false
		}
	}
}

// description is what a story's sections say beside its criteria.
func (d *drafter) description(own []section) []string {
	var about []string
	for i, s := range own {
		if i == 0 || s.role == roleCriteria {
			s.level = 0 // its title is said already
		}
		about = append(about, s.markdown(d.doc, d.used))
		for _, b := range s.blocks {
			d.used[b] = true
		}
	}
	return about
}

// listCriteria takes the lists of a section for criteria.
func (d *drafter) listCriteria(s section) []string {
	var all []string
	for _, list := range s.lists() {
		found := d.criteria(list)
		d.used[list] = len(found) > 0
		all = append(all, found...)
	}
	return all
}

// sectionCriteria takes a section of criteria: its lists, or its lines where it has none.
func (d *drafter) sectionCriteria(s section) []string {
	if all := d.listCriteria(s); len(all) > 0 {
		return all
	}
	var all []string
	for _, b := range s.blocks {
		if b.Kind() == ast.KindParagraph {
			all = append(all, nonBlankLines(d.doc.blockMarkdown(b))...)
			d.used[b] = true
		}
	}
	return all
}

// singleEntry makes one story of the whole: its criteria stand under a heading of
// their own, or else are what is listed in the text.
func (d *drafter) singleEntry(title string) (Source, []entry) {
	e := entry{title: title}
	from := SourcePlain
	for _, s := range d.sections {
		if s.role == roleCriteria {
			e.criteria = append(e.criteria, d.sectionCriteria(s)...)
		}
	}
	if len(e.criteria) > 0 {
		from = SourceHeadings
	} else {
		e.criteria = d.listCriteria(d.sections[0])
	}
	if rest := d.unusedText(); rest != title {
		e.about = []string{rest}
	}
	return from, []entry{e}
}

// section is a heading and what stands under it, up to the next heading.
type section struct {
	level  int // 0 above the first heading
	title  string
	role   role
	offset int  // offset in the body
	parent int  // the section it stands under, or -1
	empty  bool // a form field without an answer
	blocks []ast.Node
}

// role is what the lists of a section are, as far as its title tells.
type role int

const (
	roleStories  role = iota // stories, or their criteria
	roleTasks                // a story an item, boxes or not
	roleCriteria             // criteria of what the section stands under
	roleText                 // no stories, but for boxes to tick
	roleIgnored              // no stories at all
)

// labelLevel is deeper than any heading: a line that reads "Acceptance
// criteria:" does a heading's work for what follows.
const labelLevel = 7

// splitSections cuts a page into sections. Comments, other HTML and form fields left
// empty are gone.
func splitSections(p document) []section {
	sections := []section{{parent: -1}}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if s, ok := sectionStart(p, n); ok {
			s.parent = parentSection(sections, s.level)
			if s.parent >= 0 && slices.Contains([]role{roleCriteria, roleIgnored}, sections[s.parent].role) {
				s.role = sections[s.parent].role
			}
			sections = append(sections, s)
			continue
		}
		last := &sections[len(sections)-1]
		switch p.blockMarkdown(n) {
		case "":
		case noResponse:
			last.empty = true
		default:
			last.blocks = append(last.blocks, n)
		}
	}
	return sections
}

func sectionStart(p document, n ast.Node) (section, bool) {
	switch n := n.(type) {
	case *ast.Heading:
		title := p.inlineLine(n)
		return section{level: n.Level, title: title, role: titleRoles[titleKey(title)], offset: offsetOf(n)}, true
	case *ast.Paragraph:
		title := p.inlineLine(n)
		return section{level: labelLevel, title: title, role: roleCriteria, offset: offsetOf(n)}, isCriteria(title)
	default:
		return section{}, false
	}
}

// parentSection is the nearest heading above that is less deep.
func parentSection(sections []section, level int) int {
	i := len(sections) - 1
	for i > 0 && sections[i].level >= level {
		i = sections[i].parent
	}
	if i == 0 {
		return -1
	}
	return i
}

// titleRoles are what people call their headings.
var titleRoles = rolesByTitle(map[role]string{
	roleTasks: "stories, user stories, tasks, task list, to do, todo",
	roleCriteria: "acceptance criteria, acceptance criterion, acceptance, criteria, definition of done, dod, " +
		"done when, requirements",
	roleText: "context, background, motivation, summary, description, overview, notes, steps to reproduce, " +
		"to reproduce, how to reproduce, reproduction, expected behavior, expected behaviour, " +
		"actual behavior, actual behaviour, current behavior, current behaviour, environment, versions, " +
		"additional context, additional information, references, links, related, screenshots, logs, " +
		"questions, open questions, risks, alternatives",
	roleIgnored: "out of scope, not in scope, non goals, non-goals, code of conduct, before you start, " +
		"before you submit, before submitting",
})

func rolesByTitle(titles map[role]string) map[string]role {
	all := map[string]role{}
	for r, list := range titles {
		for title := range strings.SplitSeq(list, ", ") {
			all[title] = r
		}
	}
	return all
}

func isCriteria(title string) bool { return titleRoles[titleKey(title)] == roleCriteria }

// titleKey is a title without its case, colon, numbering and ornaments.
func titleKey(title string) string {
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

// markdown is the section as Markdown, without the blocks that were used up; a
// heading with nothing left under it goes too.
func (s section) markdown(p document, used map[ast.Node]bool) string {
	var parts []string
	for _, b := range s.blocks {
		if !used[b] {
			parts = append(parts, p.blockMarkdown(b))
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
