package config

import (
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/jsontree"
)

const maxBytes = 1 << 20

func (d *decoder) parseJSON(f File) (node, bool) {
	root, wrong := jsontree.Parse(f.Name, f.Data, maxBytes)
	return root, d.isReadable(wrong)
}

func (d *decoder) isReadable(wrong *jsontree.Problem) bool {
	if wrong != nil {
		d.Problems = append(d.Problems, *wrong)
	}
	return wrong == nil
}

// parse reads JSON or YAML.
func (d *decoder) parse(f File) (node, bool) {
	if isJSON(f) {
		return d.parseJSON(f)
	}
	return d.parseYAML(f)
}

type node = jsontree.Node

// merge merges objects key by key, and replaces other values.
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

// displayKeys are the keys that change no more than text.
var displayKeys = []string{"$schema", "completionResponse", "outputTruncateChars", "streamAgentOutput", "includeIterationCountInPrompt"}

// CanonicalText returns the merged settings of files without displayKeys, in a form that
// does not depend on the layout. It is empty if the files set nothing. It has no
// defaults, because another version can have others.
func CanonicalText(files ...File) string {
	d := newDecoder()
	merged := node{Kind: jsontree.Object}
	for _, f := range files {
		if root, ok := d.parse(f); ok {
			merged = merge(merged, root)
		}
	}
	merged.Members = slices.DeleteFunc(merged.Members, func(m jsontree.Member) bool { return slices.Contains(displayKeys, m.Key) })
	value := plainValue(merged)
	if value == nil {
		return ""
	}
	text, _ := json.Marshal(value) // no error occurs for values of files
	return string(text)
}

func plainValue(n node) any {
	switch n.Kind { //nolint:exhaustive // the rest are single values
	case jsontree.None, jsontree.Null:
		return nil
	case jsontree.Object:
		members := map[string]any{}
		for _, m := range n.Members {
			if value := plainValue(m.Value); value != nil {
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
			items = append(items, plainValue(item))
		}
		return items
	}
	return []any{n.Kind, n.Text}
}
