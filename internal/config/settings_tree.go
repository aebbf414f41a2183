package config

import (
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
