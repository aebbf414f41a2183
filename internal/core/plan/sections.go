package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// sectionCriteria takes the lists of a section as criteria, or else its lines.
func (d *drafter) sectionCriteria(s section) []string {
	var all, lines []string
	for _, b := range s.blocks {
		switch b := b.(type) {
		case *ast.List:
			all = append(all, d.criteria(b)...)
		case *ast.Paragraph:
			lines = append(lines, nonBlankLines(d.doc.inlineText(b))...)
		}
	}
	if len(all) > 0 {
		return all
	}
	return lines
}

// singleEntry makes one story of the whole text. Its criteria are those of the only section with criteria. Several
// sections belong to several stories: an agent has to read which.
func (d *drafter) singleEntry(title string) (Source, []entry) {
	e := entry{title: title}
	if d.body != title {
		e.about = []string{d.body}
	}
	if d.hasOnePlaceOfCriteria() {
		for _, s := range d.sections {
			if s.role == roleCriteria {
				e.criteria = append(e.criteria, d.sectionCriteria(s)...)
			}
		}
	}
	if len(e.criteria) > 0 {
		return SourceCriteria, []entry{e}
	}
	return SourcePlain, []entry{e}
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
	roleText     role = iota // a story for each item of a task list
	roleCriteria             // criteria of the one story
	roleIgnored              // no stories
)

const labelLevel = 7 // of a line "Acceptance criteria:", which is below any heading

const noResponse = "No response" // GitHub writes it for an empty field of an issue form

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
			} else if s.role != roleText {
				outer = s
			}
			sections = append(sections, s)
			continue
		}
		if p.inlineLine(n) != noResponse && !isAboutAuthor(p, *last, n) {
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
	if n.Kind() != ast.KindList {
		return false
	}
	items := children(n)
	for _, item := range items {
		ticked, hasBox := ownBox(item)
		if !hasBox || item.ChildCount() > 1 {
			return false
		}
		if in.role == roleCriteria && !ticked {
			return false
		}
	}
	return slices.ContainsFunc(items, func(item ast.Node) bool {
		return personalStatement.MatchString(p.inlineLine(item.FirstChild()))
	})
}

var titleRoles = rolesByTitle(map[role]string{
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
