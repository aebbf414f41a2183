package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

type spot struct {
	node
	path, story string
}

// field is a member, or nothing at the object's own place. A null counts as
// nothing: models write it for what they leave out.
func (s spot) field(key string) spot {
	value := s.member(key)
	return spot{value, join(s.path, key), s.story}
}

func (s spot) absent() bool { return s.kind == kindNone || s.kind == 'n' }

func (s spot) tangled(t tangle) spot {
	story := s.items[t.story]
	id := story.member("id")
	if t.dep < 0 {
		return spot{id, fmt.Sprintf("%s[%d].id", s.path, t.story), id.text}
	}
	deps := story.member("dependsOn")
	return spot{deps.items[t.dep], fmt.Sprintf("%s[%d].dependsOn[%d]", s.path, t.story, t.dep), id.text}
}

func (r *reader) complain(s spot, format string, args ...any) {
	line, _ := slices.BinarySearch(r.breaks, s.at)
	r.bad.Problems = append(r.bad.Problems, Problem{
		Line: r.above + line + 1, Path: s.path, Story: s.story, Text: fmt.Sprintf(format, args...),
	})
}

// object complains of keys that were mistyped and of what is missing. A slip
// is one problem: the key that was meant is not missed as well.
func (r *reader) object(s spot, shape shape) bool {
	if s.kind != '{' {
		r.complain(s, "found %s, want an object", s.node)
		return false
	}
	meant := r.mistyped(s, shape.known)
	want := shape.required
	if r.audit {
		want = slices.Concat(want, shape.audited)
	}
	for _, key := range want {
		if f := s.field(key); f.absent() && !meant[key] {
			r.complain(f, "missing")
		}
	}
	return true
}

func (r *reader) mistyped(s spot, known []string) map[string]bool {
	meant := map[string]bool{}
	for _, m := range s.members {
		if slices.Contains(known, m.key) {
			continue
		}
		if near, ok := Nearest(m.key, known); ok {
			meant[near] = true
			r.complain(spot{node{at: m.at}, join(s.path, m.key), s.story}, "unknown key, did you mean %q?", near)
		}
	}
	return meant
}

func (r *reader) extra(s spot, shape shape) []Extra {
	var extra []Extra
	for _, m := range s.members {
		if !slices.Contains(shape.known, m.key) {
			extra = append(extra, Extra{m.key, compact(r.data, m.value)})
		}
	}
	return extra
}

func (r *reader) text(s spot) string {
	if !s.absent() && s.kind != '"' {
		r.complain(s, "found %s, want a string", s.node)
	}
	return s.text
}

// title is a string that must say something, on one line: it goes into commit
// subjects and headings.
func (r *reader) title(s spot) string {
	switch {
	case s.absent(): // object has said so
	case s.kind != '"':
		r.complain(s, "found %s, want a string", s.node)
	case blank(s.text):
		r.complain(s, "found %s, want some text", s.node)
	case !isLine(s.text):
		r.complain(s, "found %s, want one line of text", s.node)
	}
	return s.text
}

func (r *reader) list(s spot) []spot {
	if !s.absent() && s.kind != '[' {
		r.complain(s, "found %s, want a list", s.node)
	}
	var items []spot
	for i, item := range s.items {
		items = append(items, spot{item, fmt.Sprintf("%s[%d]", s.path, i), s.story})
	}
	return items
}

// lines is a list of strings of which none may be blank.
func (r *reader) lines(s spot) []string {
	var lines []string
	for _, item := range r.list(s) {
		switch {
		case item.kind != '"':
			r.complain(item, "found %s, want a string", item.node)
			item.text = ""
		case blank(item.text):
			r.complain(item, "found %s, want some text", item.node)
		}
		lines = append(lines, item.text)
	}
	return lines
}

func (r *reader) names(s spot) []string {
	var names []string
	for _, item := range r.list(s) {
		if item.kind != '"' {
			r.complain(item, "found %s, want a string", item.node)
		}
		names = append(names, item.text)
	}
	return names
}

func (r *reader) flag(s spot) bool {
	if !s.absent() && s.kind != 't' && s.kind != 'f' {
		r.complain(s, "found %s, want true or false", s.node)
	}
	return s.kind == 't'
}

// choice is a flag that may be left open.
func (r *reader) choice(s spot) *bool {
	if s.absent() {
		return nil
	}
	chosen := r.flag(s)
	return &chosen
}

func (r *reader) whole(s spot, otherwise int) int {
	if s.absent() {
		return otherwise
	}
	number, err := strconv.ParseFloat(s.text, 64)
	if s.kind != kindNumber || err != nil || number != math.Trunc(number) || math.Abs(number) > 1<<53 {
		r.complain(s, "found %s, want a whole number", s.node)
		return otherwise
	}
	return int(number)
}
