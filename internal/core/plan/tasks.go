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
		title, about := headline(d.leadingText(item))
		if title == "" {
			continue
		}
		e := entry{section: under, title: title, about: about}
		ticked, hasBox := ownBox(item)
		e.done = ticked || (!hasBox && allTicked(item))
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
	end := 1
	for end < len(lines) && unicode.IsLower([]rune(lines[end])[0]) {
		end++
	}
	return clean.OneLine(strings.Join(lines[:end], " ")), lines[end:]
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
			words = clean.OneLine(d.leadingText(first))
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
