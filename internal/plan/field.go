package plan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

// value is a JSON value with the path of keys to it and the story it belongs to.
type value struct {
	jsontree.Node
	path, story string
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// member is the value of a key, or an empty node at the object's line.
func member(n jsontree.Node, key string) jsontree.Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return jsontree.Node{Line: n.Line}
}

// field is a member. Models write null for what they leave out, so it counts as missing.
func (s value) field(key string) value {
	return value{member(s.Node, key), joinPath(s.path, key), s.story}
}

func (s value) isAbsent() bool { return s.Kind == jsontree.None || s.Kind == jsontree.Null }

func (s value) ofDefect(t defect) value {
	story := s.Items[t.story]
	id := member(story, "id")
	if t.dep < 0 {
		return value{id, fmt.Sprintf("%s[%d].id", s.path, t.story), id.Text}
	}
	deps := member(story, "dependsOn")
	return value{deps.Items[t.dep], fmt.Sprintf("%s[%d].dependsOn[%d]", s.path, t.story, t.dep), id.Text}
}

func (r *reader) report(s value, format string, args ...any) {
	r.invalid.Problems = append(r.invalid.Problems, Problem{
		Line: r.linesAbove + s.Line, Path: s.path, Story: s.story, Text: fmt.Sprintf(format, args...),
	})
}

// checkObject reports mistyped keys, and missing ones for which no mistyped key was meant.
func (r *reader) checkObject(s value, shape keySet) bool {
	if s.Kind != jsontree.Object {
		r.report(s, "found %s, want an object", s.Node)
		return false
	}
	meant := r.reportMistyped(s, shape.known)
	want := shape.required
	if r.audit {
		want = slices.Concat(want, shape.expected)
	}
	for _, key := range want {
		if f := s.field(key); f.isAbsent() && !meant[key] {
			r.report(f, "missing")
		}
	}
	return true
}

func (r *reader) reportMistyped(s value, known []string) map[string]bool {
	meant := map[string]bool{}
	for _, m := range s.Members {
		if slices.Contains(known, m.Key) {
			continue
		}
		if near, ok := jsontree.Nearest(m.Key, known); ok {
			meant[near] = true
			r.report(value{jsontree.Node{Line: m.Line}, joinPath(s.path, m.Key), s.story}, "unknown key, did you mean %q?", near)
		}
	}
	return meant
}

// unknownKeys are what an object holds besides, as an object; nil: nothing.
func unknownKeys(of jsontree.Node, shape keySet) jsontext.Value {
	var out bytes.Buffer
	to := jsontext.NewEncoder(&out, exact)
	_ = to.WriteToken(jsontext.BeginObject) // none of this fails: the values were parsed before
	for _, m := range of.Members {
		if !slices.Contains(shape.known, m.Key) {
			_ = errors.Join(to.WriteToken(jsontext.String(m.Key)), to.WriteValue(jsontext.Value(m.Value.Raw)))
		}
	}
	_ = to.WriteToken(jsontext.EndObject)
	if object := bytes.TrimSpace(out.Bytes()); string(object) != "{}" {
		return object
	}
	return nil
}

func (r *reader) reportDuplicates(s value) {
	seen := map[string]bool{}
	for _, m := range s.Members {
		path := joinPath(s.path, m.Key)
		if seen[m.Key] {
			r.report(value{jsontree.Node{Line: m.Line}, path, ""}, "given twice, want one")
		}
		seen[m.Key] = true
		r.reportDuplicates(value{m.Value, path, ""})
	}
	for i, item := range s.Items {
		r.reportDuplicates(value{item, fmt.Sprintf("%s[%d]", s.path, i), ""})
	}
}

func (r *reader) text(s value) string {
	if !s.isAbsent() && s.Kind != jsontree.Text {
		r.report(s, "found %s, want a string", s.Node)
	}
	return s.Text
}

// line is a string with one line of text: it goes into commit subjects and headings.
func (r *reader) line(s value) string {
	switch {
	case s.isAbsent(): // checkObject has reported it
	case s.Kind != jsontree.Text:
		r.report(s, "found %s, want a string", s.Node)
	case blank(s.Text):
		r.report(s, "found %s, want some text", s.Node)
	case strings.ContainsFunc(s.Text, unicode.IsControl):
		r.report(s, "found %s, want one line of text", s.Node)
	}
	return s.Text
}

func (r *reader) list(s value) []value {
	if !s.isAbsent() && s.Kind != jsontree.List {
		r.report(s, "found %s, want a list", s.Node)
	}
	var items []value
	for i, item := range s.Items {
		items = append(items, value{item, fmt.Sprintf("%s[%d]", s.path, i), s.story})
	}
	return items
}

func (r *reader) textList(s value) []string {
	var lines []string
	for _, item := range r.list(s) {
		switch {
		case item.Kind != jsontree.Text:
			r.report(item, "found %s, want a string", item.Node)
			item.Text = ""
		case blank(item.Text):
			r.report(item, "found %s, want some text", item.Node)
		}
		lines = append(lines, item.Text)
	}
	return lines
}

func (r *reader) anyTextList(s value) []string {
	var names []string
	for _, item := range r.list(s) {
		if item.Kind != jsontree.Text {
			r.report(item, "found %s, want a string", item.Node)
		}
		names = append(names, item.Text)
	}
	return names
}

func (r *reader) flag(s value) bool {
	if !s.isAbsent() && s.Kind != jsontree.Bool {
		r.report(s, "found %s, want true or false", s.Node)
	}
	return s.Kind == jsontree.Bool && s.Text == "true"
}

func (r *reader) optionalFlag(s value) *bool {
	if s.isAbsent() {
		return nil
	}
	chosen := r.flag(s)
	return &chosen
}

func (r *reader) integer(s value, otherwise int) int {
	if s.isAbsent() {
		return otherwise
	}
	number, err := strconv.ParseFloat(s.Text, 64)
	if s.Kind != jsontree.Number || err != nil || number != math.Trunc(number) || math.Abs(number) > 1<<53 {
		r.report(s, "found %s, want a whole number", s.Node)
		return otherwise
	}
	return int(number)
}
