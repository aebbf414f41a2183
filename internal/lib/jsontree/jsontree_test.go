package jsontree_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Values know their lines and how they were written, and equal keys are kept apart.
func TestParse(t *testing.T) {
	const text = "\uFEFF{\"a\": [1e2, \"x\",\n  true, null],\n \"a\" : {}}"
	got, problem := jsontree.Parse("f", []byte(text), 100)
	if problem != nil {
		t.Fatal(problem.Text)
	}
	in := func(kind jsontree.Kind, line int, text, raw string) jsontree.Node {
		return jsontree.Node{Kind: kind, File: "f", Line: line, Text: text, Raw: []byte(raw)}
	}
	list, object, want := in(jsontree.List, 1, "", "[1e2, \"x\",\n  true, null]"), in(jsontree.Object, 3, "", "{}"), in(jsontree.Object, 1, "", text[3:])
	list.Items = []jsontree.Node{in(jsontree.Number, 1, "1e2", "1e2"), in(jsontree.Text, 1, "x", `"x"`), in(jsontree.Bool, 2, "true", "true"), in(jsontree.Null, 2, "", "null")}
	want.Members = []jsontree.Member{{Key: "a", Line: 1, Value: list}, {Key: "a", Line: 3, Value: object}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeParsed(t *testing.T) {
	for text, want := range map[string]jsontree.Problem{
		"":                       {File: "f", Line: 1, Column: 1, Text: "broken JSON: unexpected end of JSON input"},
		"{\n \"é\": 1,}":         {File: "f", Line: 2, Column: 9, Text: "broken JSON: invalid character '}' looking for beginning of object key string (no comma after the last one)"},
		"[\n// no\n]":            {File: "f", Line: 2, Column: 1, Text: "broken JSON: invalid character '/' looking for beginning of value (JSON has no comments)"},
		"[1,\n2\xff]":            {File: "f", Line: 2, Column: 0, Text: "found a byte that is not UTF-8, want text"},
		strings.Repeat("[", 101): {File: "f", Line: 0, Column: 0, Text: "found 101 bytes, want at most 100"},
		strings.Repeat("[", 33) + strings.Repeat("]", 33): {File: "f", Line: 0, Column: 0, Text: "nested deeper than 32 levels"},
	} {
		_, got := jsontree.Parse("f", []byte(text), 100)
		if got == nil || *got != want {
			t.Errorf("Parse(%q) = %+v, want %+v", text, got, want)
		}
	}
}

// What is read is JSON.
func FuzzParse(f *testing.F) {
	f.Add("\uFEFF{\"a\": [1e2, \"x\",\n  true, null],\n \"a\" : {}}")
	f.Add(strings.Repeat("[", 5000))
	f.Add(`{"a": -0e-999999999, "\ud800": "\u0000", "a": 0x1}`)
	f.Add("{\"a\": \"\xff\"}\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, problem := jsontree.Parse("f", []byte(text), 100); problem == nil && !json.Valid([]byte(strings.TrimPrefix(text, "\uFEFF"))) {
			t.Errorf("%q is read", text)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"id", "title", "passes", "notes", "dependsOn", "acceptanceCriteria", "userStories"}
	long := strings.Repeat("y", 63)
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"acceptenceCriteria", known, "acceptanceCriteria"},
		{"acceptance_criteria", known, "acceptanceCriteria"},
		{"userStory", known, "userStories"},
		{"Title", known, "title"},
		{"tilte", known, "title"},
		{"note", known, "notes"},
		{"ID", known, "id"},
		{"is", known, ""},
		{"estimate", known, ""},
		{"", known, ""},
		{strings.Repeat("x", 1<<20), known, ""},
		{"itle", known, "title"},
		{"xtitle", known, "title"},
		{"itxle", known, ""},
		{"note", []string{"notes", "note", "nota"}, "note"},
		{"noti", []string{"note", "nota"}, "note"},
		{"bxc", []string{"abc"}, ""},
		{"bac", []string{"abc"}, "abc"},
		{long + "x", []string{long + "y"}, long + "y"},
		{long + "xx", []string{long + "yx"}, ""},
	} {
		if got, ok := jsontree.Nearest(test.word, test.known); got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%.20q) = %q, %t, want %q", test.word, got, ok, test.want)
		}
	}
}
