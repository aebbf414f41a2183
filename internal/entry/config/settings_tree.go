package config

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
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

// parse reads a file as JSON if its name says so, or else as YAML, which contains JSON.
func (d *decoder) parse(f File) (node, bool) {
	if strings.EqualFold(path.Ext(f.Name), ".json") {
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
