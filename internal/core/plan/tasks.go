package plan

import (
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

type entry struct {
	title    string
	about    []string // paragraphs
	criteria []string
	done     bool
}

// taskEntries makes a story of every top-level item of task lists, except lists of criteria.
func (d *drafter) taskEntries() []entry {
	var entries []entry
	for _, s := range d.sections {
		if s.role != roleText {
			continue
		}
		for _, b := range s.blocks {
			if isTaskList(b) {
				entries = append(entries, d.listEntries(b)...)
			}
		}
	}
	return entries
}

func isTaskList(n ast.Node) bool {
	return n.Kind() == ast.KindList && slices.ContainsFunc(children(n), func(item ast.Node) bool {
		_, has := ownBox(item)
		return has
	})
}

func (d *drafter) listEntries(list ast.Node) []entry {
	var entries []entry
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		title, about := headline(d.leadingText(item))
		if title == "" {
			continue
		}
		e := entry{title: title, about: about}
		e.done, _ = ownBox(item)
		for n := item.FirstChild().NextSibling(); n != nil; n = n.NextSibling() {
			if n.Kind() == ast.KindList {
				e.criteria = append(e.criteria, d.criteria(n)...)
			} else {
				e.about = append(e.about, d.leadingText(n))
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
	end := 1
	for end < len(lines) && unicode.IsLower([]rune(lines[end])[0]) {
		end++
	}
	return clean.OneLine(strings.Join(lines[:end], " ")), lines[end:]
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

// criteria returns the paragraphs of a list's items, each followed by its nested items.
func (d *drafter) criteria(list ast.Node) []string {
	var all []string
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		for n := item.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() == ast.KindList {
				all = append(all, d.criteria(n)...)
			} else if words := clean.OneLine(d.leadingText(n)); words != "" {
				all = append(all, words)
			}
		}
	}
	return all
}
