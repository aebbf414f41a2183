package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

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

// singleEntry makes one story of the whole text. Its criteria are those of the only section with criteria, or the lists
// at the top. Several sections belong to several stories: an agent has to read which.
func (d *drafter) singleEntry(title string) (Source, []entry) {
	e := entry{title: title}
	from := SourcePlain
	if d.hasOnePlaceOfCriteria() {
		for _, s := range d.sections {
			if s.role == roleCriteria {
				e.criteria = append(e.criteria, d.sectionCriteria(s)...)
			}
		}
	}
	if len(e.criteria) > 0 {
		from = SourceCriteria
	} else {
		e.criteria = d.listCriteria(d.sections[0])
	}
	if rest := d.unusedText(); rest != title {
		e.about = []string{rest}
	}
	return from, []entry{e}
}

// hasOnePlaceOfCriteria reports whether nothing stands between sections with criteria.
func (d *drafter) hasOnePlaceOfCriteria() bool {
	places := 0
	for i, s := range d.sections {
		if s.role == roleCriteria && d.sections[i-1].role != roleCriteria {
			places++
		}
	}
	return places == 1
}

type section struct {
	level  int // 0 above the first heading
	title  string
	role   role
	blocks []ast.Node
}

// role says what the lists of a section are. The section's title decides.
type role int

const (
	roleText     role = iota // stories only in check boxes
	roleTasks                // one story for each item
	roleCriteria             // criteria of the one story
	roleIgnored              // no stories
)

const labelLevel = 7 // of a line "Acceptance criteria:", which is below any heading

const noResponse = "_No response_" // GitHub writes it for an empty field of an issue form

// splitSections cuts a document into sections. Sections below criteria are criteria, too.
func splitSections(p document) []section {
	sections := []section{{}}
	var outer section
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		last := &sections[len(sections)-1]
		if s, ok := sectionStart(p, n); ok {
			if s.level <= outer.level {
				outer = section{}
			}
			if outer.role != roleText {
				s.role = outer.role
			} else if s.role == roleCriteria || s.role == roleIgnored {
				outer = s
			}
			sections = append(sections, s)
			continue
		}
		if text := p.blockMarkdown(n); text != "" && text != noResponse && !isAboutAuthor(p, *last, n) {
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

// personalStatement matches how people speak about themselves, and questions.
var personalStatement = pattern.Of(`(?i)^(?:yes|my)\b|^(?:by [^,]+, )?(?:i|we)(?:\s+|['’])` +
	`(?:have|am|are|m|ve|re|d|ll|will|would|do|did|don|agree|confirm|understand|acknowledge|` +
	`accept|know|read|can|could|\w+ed)\b|\?$`)

// isAboutAuthor reports whether a list of check boxes is about the author, as "I have searched" in issue forms. Open
// criteria are about the work.
func isAboutAuthor(p document, in section, n ast.Node) bool {
	if n.Kind() != ast.KindList || (in.role == roleCriteria && !allTicked(n)) {
		return false
	}
	items := children(n)
	for _, item := range items {
		if _, hasBox := ownBox(item); !hasBox || item.ChildCount() > 1 {
			return false
		}
	}
	return slices.ContainsFunc(items, func(item ast.Node) bool {
		return personalStatement.MatchString(p.inlineLine(item.FirstChild()))
	})
}

var titleRoles = rolesByTitle(map[role]string{
	roleTasks: "stories, user stories, tasks, task list, to do, todo",
	roleCriteria: "acceptance criteria, acceptance criterion, acceptance, criteria, definition of done, dod, " +
		"done when, requirements",
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
