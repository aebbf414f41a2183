package config

import (
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

const maxBytes = 1 << 20

// json reads a file.
func (d *decoder) json(f File) (node, bool) {
	root, wrong := jsontree.Parse(f.Name, f.Data, maxBytes)
	return root, d.readable(f, wrong)
}

// readable complains of a file that cannot be read.
func (d *decoder) readable(f File, wrong *jsontree.Problem) bool {
	if wrong != nil {
		d.problems = append(d.problems, problem{file: f.Name, line: wrong.Line, column: wrong.Column, text: wrong.Text})
	}
	return wrong == nil
}

// node is a value of a file, JSON or YAML.
type node = jsontree.Node

// member is the value of a key; null counts as none, as the files that seed
// 001's init wrote have it for lists that are empty.
func memberOf(n node, key string) (node, bool) {
	for _, m := range n.Members {
		if m.Key == key && m.Value.Kind != jsontree.Null {
			return m.Value, true
		}
	}
	return node{File: n.File, Line: n.Line}, false
}

// merge lays over upon base: objects key by key, all else as a whole.
func merge(base, over node) node {
	if over.Kind == jsontree.Null {
		return base
	}
	if base.Kind != jsontree.Object || over.Kind != jsontree.Object {
		return over
	}
	base.Members = slices.Clone(base.Members)
	for _, m := range over.Members {
		i := slices.IndexFunc(base.Members, func(b jsontree.Member) bool { return b.Key == m.Key })
		if i < 0 {
			base.Members = append(base.Members, m)
			continue
		}
		base.Members[i].Value = merge(base.Members[i].Value, m.Value)
	}
	return base
}

// shown are the keys of what people and the agent are shown. No other key is without effect on
// what a run does, what it may cost and what counts as done.
var shown = []string{"$schema", "completionResponse", "outputTruncateChars", "streamAgentOutput", "includeIterationCountInPrompt"}

// Said is what files of settings say beyond that, each laid over those before it, in one form
// whatever their layout; empty where they say nothing. No default is in it: those of a later
// version may differ.
func Said(files ...File) string {
	var d decoder
	merged := node{Kind: jsontree.Object}
	for _, f := range files {
		read := d.json
		if !isJSON(f) {
			read = d.yaml
		}
		if root, ok := read(f); ok {
			merged = merge(merged, root)
		}
	}
	merged.Members = slices.DeleteFunc(merged.Members, func(m jsontree.Member) bool { return slices.Contains(shown, m.Key) })
	text, err := json.Marshal(bare(merged))
	if err != nil || bare(merged) == nil { // values of files can be encoded
		return ""
	}
	return string(text)
}

// bare is a value without its place in a file; nil where it says nothing.
func bare(n node) any {
	switch n.Kind { //nolint:exhaustive // the rest are single values
	case jsontree.None, jsontree.Null:
		return nil
	case jsontree.Object:
		members := map[string]any{}
		for _, m := range n.Members {
			if value := bare(m.Value); value != nil {
				members[m.Key] = value
			}
		}
		if len(members) == 0 {
			return nil
		}
		return members
	case jsontree.List:
		items := []any{}
		for _, item := range n.Items {
			items = append(items, bare(item))
		}
		return items
	}
	return []any{n.Kind, n.Text}
}
