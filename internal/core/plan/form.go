package plan

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

// GitHub writes an issue form as one level-3 heading for each field, with the
// answer below it. Labels and check boxes are the form's text; only answers count.
const (
	formLevel  = 3
	noResponse = "_No response_"
)

// MayBeForm reports whether an issue begins as an issue form does.
func MayBeForm(t Task) bool {
	return t.Kind == KindIssue && strings.HasPrefix(strings.TrimSpace(t.Body), "### ")
}

// field is the field of an issue form with one label.
type field struct {
	kind    string   // textarea, input, dropdown or checkboxes; empty: unknown
	initial []string // text of the field before a person answers
}

// formFields returns the fields of issue forms, the files of .github/ISSUE_TEMPLATE, by label.
func formFields(forms [][]byte) map[string]field {
	known := map[string]field{}
	for _, data := range forms {
		var form struct {
			Body []struct {
				Type       string
				Attributes struct {
					Label string
					Value any
				}
			}
		}
		if yamlfile.Decode(data, &form) != nil {
			continue
		}
		for _, f := range form.Body {
			label := parseMarkdown(visibleText(f.Attributes.Label))
			if label.doc.FirstChild() == nil {
				continue // it only shows text
			}
			key := titleKey(label.inlineLine(label.doc.FirstChild()))
			given, _ := f.Attributes.Value.(string)
			first := parseMarkdown(visibleText(given))
			known[key] = field{f.Type, append(known[key].initial, first.joinBlocks(children(first.doc), "\n\n"))}
		}
	}
	return known
}

// keepAnswers drops text that the author of an issue did not write. In a form, a
// label is not a story, a check box of the form is not a task, and a field with its
// initial text is empty.
func (d *drafter) keepAnswers(known map[string]field) {
	d.isForm = d.looksLikeForm(known)
	for i := range d.sections {
		s := &d.sections[i]
		left := d.withoutPersonalLists(*s)
		isPersonal := len(s.blocks) > 0 && len(left) == 0
		s.blocks = left
		if !d.isForm || s.level != formLevel {
			continue
		}
		f := known[titleKey(s.title)]
		isChoice := f.kind == "dropdown" || f.kind == "checkboxes"
		if len(known) == 0 {
			isChoice = s.isTickedChoice()
		}
		switch {
		case isChoice || isPersonal:
			s.role = roleIgnored
		case s.role == roleStories:
			s.role = roleText
		}
		isInitial := slices.Contains(f.initial, d.doc.joinBlocks(s.blocks, "\n\n"))
		isAllTicked := isChoice && s.isCheckList() && allTicked(s.blocks[0])
		if isInitial || isAllTicked {
			s.blocks = nil
		}
	}
}

// withoutPersonalLists returns the blocks of a section that are about the work. A list under a criteria heading is
// about the author only if all of it is ticked.
func (d *drafter) withoutPersonalLists(s section) []ast.Node {
	var left []ast.Node
	for _, b := range s.blocks {
		isOpenCriteria := s.role == roleCriteria && !allTicked(b)
		if isPersonalList(d.doc, b) && !isOpenCriteria {
			continue
		}
		left = append(left, b)
	}
	return left
}

// looksLikeForm distinguishes a form from stories under level-3 headings. A form
// has a field that the repository's forms know, that is empty, or whose answer is
// prose. A story has a list or criteria.
func (d *drafter) looksLikeForm(known map[string]field) bool {
	if len(d.sections) < 2 || len(d.sections[0].blocks) > 0 || d.sections[1].level != formLevel {
		return false
	}
	stories := d.areStories()
	hasStory := false
	for i, s := range d.sections {
		if s.level != formLevel {
			continue
		}
		if _, isField := known[titleKey(s.title)]; isField || s.empty {
			return true
		}
		if stories[i] {
			hasStory = true
			continue
		}
		if d.isProse(i) {
			return true
		}
	}
	return !hasStory && len(d.sections) > 2
}

// isProse reports whether a section that is no story has text and no section below it.
func (d *drafter) isProse(i int) bool {
	s := d.sections[i]
	isLeaf := i+1 == len(d.sections) || d.sections[i+1].parent != i
	return isLeaf && s.role == roleStories && len(s.blocks) > 0
}

func (s section) isCheckList() bool {
	return len(s.blocks) == 1 && isCheckList(s.blocks[0])
}

func isCheckList(n ast.Node) bool {
	return n.Kind() == ast.KindList && !slices.ContainsFunc(children(n), func(item ast.Node) bool {
		_, own := ownBox(item)
		return !own || item.ChildCount() > 1
	})
}

// isTickedChoice reports whether the answer consists of check boxes, some of them ticked.
// These are choices of a form: work is not done when a form is sent.
func (s section) isTickedChoice() bool {
	if s.role != roleStories && s.role != roleText {
		return false
	}
	return s.isCheckList() && slices.Contains(ticks(s.blocks[0]), true)
}

// personalStatement matches how people speak about themselves, and questions.
var personalStatement = pattern.Of(`(?i)^(?:yes|my)\b|^(?:by [^,]+, )?(?:i|we)(?:\s+|['’])` +
	`(?:have|am|are|m|ve|re|d|ll|will|would|do|did|don|agree|confirm|understand|acknowledge|` +
	`accept|know|read|can|could|\w+ed)\b|\?$`)

// isPersonalList reports whether a list of check boxes is about the author, not about the work.
func isPersonalList(p document, n ast.Node) bool {
	return isCheckList(n) && slices.ContainsFunc(children(n), func(item ast.Node) bool {
		return personalStatement.MatchString(p.inlineLine(item.FirstChild()))
	})
}

// emptyTitle matches a title that has only the form's prefix.
var emptyTitle = pattern.Of(`^(?:\[[^\]]*\]|<[^>]*>|\([^)]*\)|[\pL ]+:|[\s:.-])*$`)

func (d *drafter) checkContent() error {
	what := "nothing to plan in " + d.task.String()
	if (d.task.Kind == KindIssue || d.task.Title != "") && emptyTitle.MatchString(d.task.Title) {
		return fault.Usage(what+": its title is empty", "describe the work in the title", nil)
	}
	var labels []string
	for _, s := range d.sections {
		if s.role != roleIgnored && len(s.blocks) > 0 {
			return nil
		}
		if s.role != roleIgnored && s.level == formLevel {
			labels = append(labels, s.title)
		}
	}
	if !d.isForm {
		return nil
	}
	some := strings.Join(labels[:min(len(labels), 5)], ", ")
	return fault.Usage(what+": no field of its form is answered", "fill in: "+some, nil)
}
