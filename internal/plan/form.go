package plan

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/yuin/goldmark/ast"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// GitHub writes an issue form as one level-3 heading for each field, with the
// answer below it. Labels and boxes are the form's words. Only answers are work.
const (
	formLevel  = 3
	unanswered = "_No response_"
)

// MayBeForm tells of an issue that begins as a form does.
func MayBeForm(t Task) bool {
	return t.Kind == KindIssue && strings.HasPrefix(strings.TrimSpace(t.Body), "### ")
}

// field is what the repository's forms ask under one label.
type field struct {
	kind  string   // textarea, input, dropdown or checkboxes; empty: unknown
	given []string // text that is in the field before a person answers
}

// fields reads issue forms, the files of .github/ISSUE_TEMPLATE. A file that is
// no form has no fields: GitHub does not offer it as a form either.
func fields(forms [][]byte) map[string]field {
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
		if yaml.Unmarshal(data, &form) != nil {
			continue
		}
		for _, f := range form.Body {
			label := newPage(f.Attributes.Label)
			if label.doc.FirstChild() == nil {
				continue // it only shows text
			}
			key := name(label.plain(label.doc.FirstChild()))
			given, _ := f.Attributes.Value.(string)
			first := newPage(readable(given))
			known[key] = field{f.Type, append(known[key].given, first.blocks(first.doc, "\n\n"))}
		}
	}
	return known
}

// answers leaves of an issue what its author wrote. In a form a label heads no
// story, a box that the form brought is no task, and a field that holds what it
// held at first is empty.
func (d *draft) answers(known map[string]field) {
	d.form = d.formed(known)
	for i := range d.sections {
		s := &d.sections[i]
		had := len(s.blocks)
		s.blocks = slices.DeleteFunc(s.blocks, func(b ast.Node) bool { return promises(d.page, b) && (s.role != criteria || allTicked(b)) })
		f := known[name(s.title)]
		chosen := f.kind == "dropdown" || f.kind == "checkboxes" || len(known) == 0 && s.choice()
		switch {
		case !d.form || s.level != formLevel:
			continue
		case chosen || had > 0 && len(s.blocks) == 0:
			s.role = aside
		case s.role == work:
			s.role = talk
		}
		if chosen && s.boxed() && allTicked(s.blocks[0]) || slices.Contains(f.given, d.page.text(s.blocks, "\n\n")) {
			s.blocks = nil
		}
	}
}

// formed tells a form from stories that a person wrote under level-3 headings.
// A form has a field that the repository's forms know, that is empty, or whose
// answer is prose. A story has a list or criteria.
func (d *draft) formed(known map[string]field) bool {
	if len(d.sections) < 2 || len(d.sections[0].blocks) > 0 || d.sections[1].level != formLevel {
		return false
	}
	stories := d.storied()
	told := false
	for i, s := range d.sections {
		if s.level != formLevel {
			continue
		}
		_, is := known[name(s.title)]
		leaf := i+1 == len(d.sections) || d.sections[i+1].parent != i
		if is || s.empty || leaf && !stories[i] && s.role == work && len(s.blocks) > 0 {
			return true
		}
		told = told || stories[i]
	}
	return !told && len(d.sections) > 2
}

// boxed tells of an answer that is one list of boxes.
func (s section) boxed() bool {
	if len(s.blocks) != 1 || s.blocks[0].Kind() != ast.KindList {
		return false
	}
	for item := s.blocks[0].FirstChild(); item != nil; item = item.NextSibling() {
		if _, own := box(item); !own || item.ChildCount() > 1 {
			return false
		}
	}
	return true
}

// choice is an answer of boxes of which some are ticked. Work is not done yet
// when a form is sent, so such boxes are the form's.
func (s section) choice() bool {
	return (s.role == work || s.role == talk) && s.boxed() && slices.Contains(ticks(s.blocks[0]), true)
}

// promise is how people speak of themselves, or are asked.
var promise = pattern.Of(`(?i)^(?:yes|my)\b|^(?:by [^,]+, )?(?:i|we)(?:\s+|['’])` +
	`(?:have|am|are|m|ve|re|d|ll|will|would|do|did|don|agree|confirm|understand|acknowledge|accept|know|read|can|could|\w+ed)\b|\?$`)

// promises tells of a list of boxes in which the author speaks of themselves.
func promises(p page, n ast.Node) bool {
	if n.Kind() != ast.KindList || !(section{blocks: []ast.Node{n}}).boxed() {
		return false
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if promise.MatchString(p.plain(item.FirstChild())) {
			return true
		}
	}
	return false
}

// placeholder is a title that its author left as the form had it.
var placeholder = pattern.Of(`^(?:\[[^\]]*\]|<[^>]*>|\([^)]*\)|[\pL ]+:|[\s:.-])*$`)

// missing refuses an issue that has no content, and says what is missing.
func (d *draft) missing() error {
	what := "nothing to plan in " + d.task.String()
	if (d.task.Kind == KindIssue || d.task.Title != "") && placeholder.MatchString(d.task.Title) {
		return fault.Usage(what+": its title is empty", "say in the title what is to be done", nil)
	}
	var labels []string
	for _, s := range d.sections {
		if s.role != aside && len(s.blocks) > 0 {
			return nil
		}
		if s.role != aside && s.level == formLevel {
			labels = append(labels, s.title)
		}
	}
	if !d.form {
		return nil
	}
	return fault.Usage(what+": no field of its form is answered", "fill in: "+strings.Join(labels[:min(len(labels), 5)], ", "), nil)
}
