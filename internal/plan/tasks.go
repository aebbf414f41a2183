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

// entry is a story as it was found, before it has an id.
type entry struct {
	title    string
	about    []string // paragraphs
	criteria []string
	done     bool
	at       int // offset in the body
	under    int // the section of a task
}

// tasks makes a story of every top-level item of every task list. Boxes under
// a heading for criteria are criteria, not tasks.
func (d *draft) tasks() []entry {
	var entries []entry
	for i, s := range d.sections {
		if s.role == criteria || s.role == aside {
			continue
		}
		for _, list := range s.lists() {
			if s.role != tasks && !hasBox(list) {
				continue
			}
			found := d.items(list, i)
			d.used[list] = len(found) > 0
			entries = append(entries, found...)
		}
	}
	return d.placed(entries)
}

func (d *draft) items(list *ast.List, under int) []entry {
	var entries []entry
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		e := entry{at: start(item), under: under}
		if e.title, e.about = headline(d.leading(item)); e.title == "" {
			continue
		}
		ticked, boxes := box(item)
		e.done = ticked || !boxes && allTicked(item)
		for n := item.FirstChild().NextSibling(); n != nil; n = n.NextSibling() {
			if nested, ok := n.(*ast.List); ok {
				e.criteria = append(e.criteria, d.criteria(nested)...)
			} else {
				e.about = append(e.about, d.page.block(n))
			}
		}
		e.about = slices.DeleteFunc(e.about, isCriteria)
		entries = append(entries, e)
	}
	return entries
}

// headline parts the first line of an item from the rest: GitHub shows line
// breaks in issues as they are. A line that goes on in lower case was wrapped.
func headline(words string) (title string, rest []string) {
	lines := nonBlank(words)
	if len(lines) == 0 {
		return "", nil
	}
	title, lines = lines[0], lines[1:]
	for len(lines) > 0 && unicode.IsLower([]rune(lines[0])[0]) {
		title, lines = title+" "+lines[0], lines[1:]
	}
	return oneLine(title), lines
}

// placed tells a task what it is part of, where the tasks stand under several
// headings: "form" alone says little.
func (d *draft) placed(entries []entry) []entry {
	headings := map[int]bool{}
	for _, e := range entries {
		headings[e.under] = true
	}
	for i, e := range entries {
		if title := d.sections[e.under].title; title != "" && len(headings) > 1 {
			entries[i].about = append([]string{fmt.Sprintf("Part of: %s", title)}, e.about...)
		}
	}
	return entries
}

// box is the tick of an item's own box, if it has one.
func box(item ast.Node) (ticked, has bool) {
	if first := item.FirstChild(); first != nil {
		if b, ok := first.FirstChild().(*east.TaskCheckBox); ok {
			return b.IsChecked, true
		}
	}
	return false, false
}

// hasBox looks at the nested items too: a plain item may head a list of boxes.
func hasBox(list ast.Node) bool { return len(ticks(list)) > 0 }

// allTicked stands in for the box of an item that has none of its own.
func allTicked(item ast.Node) bool {
	all := ticks(item)
	for _, ticked := range all {
		if !ticked {
			return false
		}
	}
	return len(all) > 0
}

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

// criteria are the items of a list, those nested in others after them. What
// stands in an item beside its words, like code, stays with it.
func (d *draft) criteria(list *ast.List) []string {
	var all []string
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		words := ""
		if first := item.FirstChild(); first != nil && first.Kind() != ast.KindList {
			words = oneLine(d.leading(first))
		}
		var nested []string
		for n := item.FirstChild(); n != nil; n = n.NextSibling() {
			if l, ok := n.(*ast.List); ok {
				nested = append(nested, d.criteria(l)...)
			} else if n != item.FirstChild() {
				words = paragraphs(words, d.page.block(n))
			}
		}
		if words != "" {
			all = append(all, words)
		}
		all = append(all, nested...)
	}
	return all
}

// tangle is something wrong between stories. It speaks of the story's id, or
// of one of its dependencies where dep is not negative.
type tangle struct {
	story, dep int
	text       string
}

// tangles finds equal ids, dependencies on nothing, and circles of them. A
// plan without any can always go on: see Next.
func tangles(stories []Story) []tangle {
	first := make(map[string]int, len(stories))
	var ids []string
	var found []tangle
	for i, s := range stories {
		if _, ok := first[s.ID]; !ok {
			first[s.ID] = i
			ids = append(ids, s.ID)
		} else if !blank(s.ID) {
			found = append(found, tangle{i, -1, "used by an earlier story, want an id of its own"})
		}
	}
	for i, s := range stories {
		for j, dep := range s.DependsOn {
			if _, ok := first[dep]; !ok && !blank(dep) {
				found = append(found, tangle{i, j, unknown(dep, ids, len(found))})
			}
		}
	}
	c := circles{stories: stories, first: first, seen: make([]bool, len(stories))}
	for i := range stories {
		c.visit(i)
	}
	return append(found, c.found...)
}

// unknown looks for what was meant only while the answer will be shown.
func unknown(dep string, ids []string, before int) string {
	text := fmt.Sprintf("depends on %q, which is not a story here", jsontree.Clip(dep, jsontree.MaxFound))
	if before >= maxShown {
		return text
	}
	return text + didYouMean(dep, ids)
}

// circles walks the dependencies depth first: one that leads back onto the
// trail closes a circle.
type circles struct {
	stories []Story
	first   map[string]int
	seen    []bool
	trail   []int
	found   []tangle
}

func (c *circles) visit(i int) {
	if c.seen[i] {
		return
	}
	c.seen[i] = true
	c.trail = append(c.trail, i)
	for j, id := range c.stories[i].DependsOn {
		dep, ok := c.first[id]
		if !ok {
			continue
		}
		if start := slices.Index(c.trail, dep); start >= 0 {
			c.found = append(c.found, tangle{i, j, "depends on itself: " + c.circle(start)})
		}
		c.visit(dep)
	}
	c.trail = c.trail[:len(c.trail)-1]
}

func (c *circles) circle(start int) string {
	var ids []string
	for _, i := range c.trail[start:] {
		ids = append(ids, jsontree.Clip(c.stories[i].ID, jsontree.MaxFound))
	}
	return strings.Join(append(ids, ids[0]), " -> ")
}
