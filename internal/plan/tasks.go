package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

type entry struct {
	title    string
	about    []string // paragraphs
	criteria []string
	done     bool
	offset   int // in the body
	section  int // index of its section
}

// taskEntries makes a story of every top-level item of task lists, except lists of criteria.
func (d *drafter) taskEntries() []entry {
	var entries []entry
	for i, s := range d.sections {
		if s.role == roleCriteria || s.role == roleIgnored {
			continue
		}
		for _, list := range s.lists() {
			if s.role != roleTasks && len(ticks(list)) == 0 {
				continue
			}
			found := d.listEntries(list, i)
			d.used[list] = len(found) > 0
			entries = append(entries, found...)
		}
	}
	return d.addHeadings(entries)
}

func (d *drafter) listEntries(list *ast.List, under int) []entry {
	var entries []entry
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		e := entry{offset: item.Pos(), section: under}
		if e.title, e.about = headline(d.leadingText(item)); e.title == "" {
			continue
		}
		ticked, boxes := ownBox(item)
		e.done = ticked || !boxes && allTicked(item)
		for n := item.FirstChild().NextSibling(); n != nil; n = n.NextSibling() {
			if nested, ok := n.(*ast.List); ok {
				e.criteria = append(e.criteria, d.criteria(nested)...)
			} else {
				e.about = append(e.about, d.doc.blockMarkdown(n))
			}
		}
		e.about = slices.DeleteFunc(e.about, isCriteria)
		entries = append(entries, e)
	}
	return entries
}

// headline splits off the first line of an item. A line in lower case continues the one above.
func headline(words string) (title string, rest []string) {
	lines := nonBlankLines(words)
	if len(lines) == 0 {
		return "", nil
	}
	title, lines = lines[0], lines[1:]
	for len(lines) > 0 && unicode.IsLower([]rune(lines[0])[0]) {
		title, lines = title+" "+lines[0], lines[1:]
	}
	return oneLine(title), lines
}

// addHeadings adds the heading to the text of each story, if there are several.
func (d *drafter) addHeadings(entries []entry) []entry {
	headings := map[int]bool{}
	for _, e := range entries {
		headings[e.section] = true
	}
	for i, e := range entries {
		if title := d.sections[e.section].title; title != "" && len(headings) > 1 {
			entries[i].about = append([]string{"Part of: " + title}, e.about...)
		}
	}
	return entries
}

// ownBox reports whether an item has a check box, and whether it is ticked.
func ownBox(item ast.Node) (ticked, has bool) {
	if first := item.FirstChild(); first != nil {
		if b, ok := first.FirstChild().(*east.TaskCheckBox); ok {
			return b.IsChecked, true
		}
	}
	return false, false
}

// allTicked reports whether an item has check boxes below it and all are ticked.
func allTicked(item ast.Node) bool {
	all := ticks(item)
	return len(all) > 0 && !slices.Contains(all, false)
}

// ticks returns the state of all check boxes, including those of nested items.
func ticks(root ast.Node) []bool {
	var all []bool
	_ = ast.Walk(root, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if b, ok := n.(*east.TaskCheckBox); ok && enter {
			all = append(all, b.IsChecked)
		}
		return ast.WalkContinue, nil
	})
	return all
}

// criteria returns the items of a list, each followed by its nested items. Other blocks stay with their item.
func (d *drafter) criteria(list *ast.List) []string {
	var all []string
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		words := ""
		if first := item.FirstChild(); first != nil && first.Kind() != ast.KindList {
			words = oneLine(d.leadingText(first))
		}
		var nested []string
		for n := item.FirstChild(); n != nil; n = n.NextSibling() {
			if l, ok := n.(*ast.List); ok {
				nested = append(nested, d.criteria(l)...)
			} else if n != item.FirstChild() {
				words = joinParagraphs(words, d.doc.blockMarkdown(n))
			}
		}
		if words != "" {
			all = append(all, words)
		}
		all = append(all, nested...)
	}
	return all
}

// defect is an error in the id of a story, or in its dependency dep if that is not negative.
type defect struct {
	story, dep int
	text       string
}

// dependencyDefects finds equal ids, unknown dependencies, and stories that wait for each other.
func dependencyDefects(stories []Story) []defect {
	var ids []string
	var found []defect
	for i, s := range stories {
		if slices.Contains(ids, s.ID) && !blank(s.ID) {
			found = append(found, defect{i, -1, "used by an earlier story, want an id of its own"})
		}
		ids = append(ids, s.ID)
	}
	for i, s := range stories {
		for j, dep := range s.DependsOn {
			if !slices.Contains(ids, dep) && !blank(dep) {
				found = append(found, defect{i, j, unknownDependency(dep, ids)})
			}
		}
	}
	if circle := neverReady(stories, ids); len(circle) > 0 {
		found = append(found, defect{slices.Index(ids, circle[0]), -1, "can never begin: these stories wait for each other: " + jsontree.Clip(strings.Join(circle, ", "), maxTitle)})
	}
	return found
}

func unknownDependency(dep string, ids []string) string {
	text := fmt.Sprintf("depends on %q, which is not a story here", jsontree.Clip(dep, jsontree.MaxFound))
	if near, ok := jsontree.Nearest(dep, ids); ok {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	return text
}

// neverReady returns the stories that depend on themselves, directly or through others.
func neverReady(stories []Story, ids []string) []string {
	waiting := slices.Clone(ids)
	for before := 0; len(waiting) != before; {
		before = len(waiting)
		for _, s := range stories {
			if !slices.ContainsFunc(s.DependsOn, func(id string) bool { return slices.Contains(waiting, id) }) {
				waiting = slices.DeleteFunc(waiting, func(id string) bool { return id == s.ID })
			}
		}
	}
	return waiting
}
