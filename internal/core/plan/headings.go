package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// headingEntries makes a story of every deepest heading with a list or criteria under it.
func (d *drafter) headingEntries() []entry {
	var entries []entry
	for _, own := range d.storySections() {
		first := own[0]
		e := entry{title: first.title}
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

// storySections returns for each story its section and the sections below it.
func (d *drafter) storySections() [][]section {
	story := d.areStories()
	owned := make([][]section, len(d.sections))
	for at, s := range d.sections {
		for at >= 0 && !story[at] {
			at = d.sections[at].parent
		}
		if at >= 0 {
			owned[at] = append(owned[at], s)
		}
	}
	return slices.DeleteFunc(owned, func(own []section) bool { return len(own) == 0 })
}

// areStories reports for each section whether it is a story. A section with a story below it is not.
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
	for i, s := range d.sections {
		for up := s.parent; story[i] && up >= 0; up = d.sections[up].parent {
			story[up] = false
		}
	}
	return story
}

func (d *drafter) description(own []section) []string {
	var about []string
	for i, s := range own {
		if i == 0 || s.role == roleCriteria {
			s.level = 0 // no heading: the story has the title
		}
		about = append(about, s.markdown(d.doc, d.used))
		for _, b := range s.blocks {
			d.used[b] = true
		}
	}
	return about
}

func (d *drafter) listCriteria(s section) []string {
	var all []string
	for _, list := range s.lists() {
		found := d.criteria(list)
		d.used[list] = len(found) > 0
		all = append(all, found...)
	}
	return all
}

// sectionCriteria takes the lists of a section as criteria, or else its lines.
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

// singleEntry makes one story of the whole text. Its criteria are those under a criteria heading, or the lists.
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

type section struct {
	level  int // 0 above the first heading
	title  string
	role   role
	parent int  // index of the section above it, or -1
	empty  bool // a form field without an answer
	blocks []ast.Node
}

// role says what the lists of a section are. The section's title decides.
type role int

const (
	roleStories  role = iota // stories, or criteria of a story
	roleTasks                // one story for each item
	roleCriteria             // criteria of the section above
	roleText                 // stories only in check boxes
	roleIgnored              // no stories
)

const labelLevel = 7 // of a line "Acceptance criteria:", which is below any heading

// splitSections cuts a document into sections, without empty form fields.
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
		return section{level: n.Level, title: title, role: titleRoles[titleKey(title)]}, true
	case *ast.Paragraph:
		title := p.inlineLine(n)
		return section{level: labelLevel, title: title, role: roleCriteria}, isCriteria(title)
	default:
		return section{}, false
	}
}

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

// titleKey returns a title in lower case without colon, numbering and ornaments.
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

// markdown returns the section without the used blocks. It is empty if all were used.
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
