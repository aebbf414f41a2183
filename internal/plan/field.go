package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

// spot is a value, the path of keys to it, and the story it is in.
type spot struct {
	jsontree.Node
	path, story string
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// member is the value of a key, or nothing at the object's own place.
func member(n jsontree.Node, key string) jsontree.Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return jsontree.Node{Line: n.Line}
}

// field is a member, or nothing at the object's own place. A null counts as
// nothing: models write it for what they leave out.
func (s spot) field(key string) spot {
	return spot{member(s.Node, key), join(s.path, key), s.story}
}

func (s spot) absent() bool { return s.Kind == jsontree.None || s.Kind == jsontree.Null }

func (s spot) tangled(t tangle) spot {
	story := s.Items[t.story]
	id := member(story, "id")
	if t.dep < 0 {
		return spot{id, fmt.Sprintf("%s[%d].id", s.path, t.story), id.Text}
	}
	deps := member(story, "dependsOn")
	return spot{deps.Items[t.dep], fmt.Sprintf("%s[%d].dependsOn[%d]", s.path, t.story, t.dep), id.Text}
}

func (r *reader) complain(s spot, format string, args ...any) {
	r.bad.Problems = append(r.bad.Problems, Problem{
		Line: r.above + s.Line, Path: s.path, Story: s.story, Text: fmt.Sprintf(format, args...),
	})
}

// object complains of keys that were mistyped and of what is missing. A slip
// is one problem: the key that was meant is not missed as well.
func (r *reader) object(s spot, shape shape) bool {
	if s.Kind != jsontree.Object {
		r.complain(s, "found %s, want an object", s.Node)
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
	for _, m := range s.Members {
		if slices.Contains(known, m.Key) {
			continue
		}
		if near, ok := Nearest(m.Key, known); ok {
			meant[near] = true
			r.complain(spot{jsontree.Node{Line: m.Line}, join(s.path, m.Key), s.story}, "unknown key, did you mean %q?", near)
		}
	}
	return meant
}

// extra are the members that the shape does not know.
func extra(of jsontree.Node, shape shape) (extra []Extra) {
	for _, m := range of.Members {
		if !slices.Contains(shape.known, m.Key) {
			extra = append(extra, Extra{m.Key, compact(m.Value)})
		}
	}
	return extra
}

func compact(n jsontree.Node) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, n.Raw); err != nil {
		return nil // not reached: the value was parsed before
	}
	return out.Bytes()
}

// twins complains of keys that are there twice, in whatever object.
func (r *reader) twins(s spot) {
	seen := map[string]bool{}
	for _, m := range s.Members {
		path := join(s.path, m.Key)
		if seen[m.Key] {
			r.complain(spot{jsontree.Node{Line: m.Line}, path, ""}, "given twice, want one")
		}
		seen[m.Key] = true
		r.twins(spot{m.Value, path, ""})
	}
	for i, item := range s.Items {
		r.twins(spot{item, fmt.Sprintf("%s[%d]", s.path, i), ""})
	}
}

func (r *reader) text(s spot) string {
	if !s.absent() && s.Kind != jsontree.Text {
		r.complain(s, "found %s, want a string", s.Node)
	}
	return s.Text
}

// title is a string that must say something, on one line: it goes into commit
// subjects and headings.
func (r *reader) title(s spot) string {
	switch {
	case s.absent(): // object has said so
	case s.Kind != jsontree.Text:
		r.complain(s, "found %s, want a string", s.Node)
	case blank(s.Text):
		r.complain(s, "found %s, want some text", s.Node)
	case !isLine(s.Text):
		r.complain(s, "found %s, want one line of text", s.Node)
	}
	return s.Text
}

func (r *reader) list(s spot) []spot {
	if !s.absent() && s.Kind != jsontree.List {
		r.complain(s, "found %s, want a list", s.Node)
	}
	var items []spot
	for i, item := range s.Items {
		items = append(items, spot{item, fmt.Sprintf("%s[%d]", s.path, i), s.story})
	}
	return items
}

// lines is a list of strings of which none may be blank.
func (r *reader) lines(s spot) []string {
	var lines []string
	for _, item := range r.list(s) {
		switch {
		case item.Kind != jsontree.Text:
			r.complain(item, "found %s, want a string", item.Node)
			item.Text = ""
		case blank(item.Text):
			r.complain(item, "found %s, want some text", item.Node)
		}
		lines = append(lines, item.Text)
	}
	return lines
}

func (r *reader) names(s spot) []string {
	var names []string
	for _, item := range r.list(s) {
		if item.Kind != jsontree.Text {
			r.complain(item, "found %s, want a string", item.Node)
		}
		names = append(names, item.Text)
	}
	return names
}

func (r *reader) flag(s spot) bool {
	if !s.absent() && s.Kind != jsontree.Bool {
		r.complain(s, "found %s, want true or false", s.Node)
	}
	return s.Kind == jsontree.Bool && s.Text == "true"
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
	number, err := strconv.ParseFloat(s.Text, 64)
	if s.Kind != jsontree.Number || err != nil || number != math.Trunc(number) || math.Abs(number) > 1<<53 {
		r.complain(s, "found %s, want a whole number", s.Node)
		return otherwise
	}
	return int(number)
}
