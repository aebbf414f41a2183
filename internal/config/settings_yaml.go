package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// maxYAML is less than maxBytes because the parser takes quadratic time for
// what is nested deeply, and a stack to match.
const maxYAML = 32 << 10

// yaml reads the part of YAML that settings need: no anchors, aliases, tags or
// merge keys, which would make a small file a large one, and one document.
func (d *decoder) yaml(f File) (node, bool) {
	data, ok := d.readable(f, maxYAML)
	if !ok {
		return node{}, false
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.problems = append(d.problems, brokenYAML(f.Name, err))
		return node{}, false
	}
	b := branches{file: f.Name}
	var roots []node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			roots = append(roots, b.node(doc.Body))
		}
	}
	switch {
	case len(roots) == 0:
		return node{kind: kindNull, at: place{file: f.Name, line: 1}}, true
	case len(roots) > 1:
		d.complain(spot{node: roots[1]}, "found a second document, want one")
		return node{}, false
	}
	return roots[0], true
}

func brokenYAML(name string, err error) problem {
	p := problem{at: place{file: name}, text: "broken YAML: " + err.Error()}
	if at, is := errors.AsType[yaml.Error](err); is {
		p.text = "broken YAML: " + at.GetMessage()
		if token := at.GetToken(); token != nil && token.Position != nil {
			p.at.line, p.at.column = token.Position.Line, token.Position.Column
		}
	}
	return p
}

// branches makes nodes of one file's YAML.
type branches struct {
	file  string
	depth int
}

func (b *branches) node(from ast.Node) node {
	n := node{at: b.place(from)}
	if b.depth >= maxDepth {
		n.kind, n.text = kindOdd, errDeep.Error()
		return n
	}
	b.depth++
	defer func() { b.depth-- }()
	switch from := from.(type) {
	case *ast.NullNode:
		n.kind = kindNull
	case *ast.BoolNode:
		n.kind, n.text = kindBool, strconv.FormatBool(from.Value)
	case *ast.IntegerNode:
		n.kind, n.text = kindNumber, fmt.Sprint(from.Value)
	case *ast.FloatNode:
		n.kind, n.text = kindNumber, strconv.FormatFloat(from.Value, 'g', -1, 64)
	case *ast.StringNode:
		n.kind, n.text = kindText, from.Value
	case *ast.LiteralNode:
		n.kind, n.text = kindText, from.Value.Value
	case *ast.SequenceNode:
		n.kind = kindList
		for _, item := range from.Values {
			n.items = append(n.items, b.node(item))
		}
	case *ast.MappingNode:
		n.kind, n.members = kindObject, b.members(from.Values)
	case *ast.MappingValueNode:
		n.kind, n.members = kindObject, b.members([]*ast.MappingValueNode{from})
	default:
		n.kind, n.text = kindOdd, "YAML of a kind that is not read here"
		if from != nil {
			n.text = "YAML's " + from.Type().YAMLName()
		}
	}
	return n
}

func (b *branches) members(from []*ast.MappingValueNode) []member {
	var all []member
	for _, m := range from {
		key := m.Key.String()
		if text, is := m.Key.(*ast.StringNode); is {
			key = text.Value
		}
		all = append(all, member{key: key, at: b.place(m.Key), value: b.node(m.Value)})
	}
	return all
}

func (b *branches) place(of ast.Node) place {
	at := place{file: b.file}
	if of != nil && of.GetToken() != nil && of.GetToken().Position != nil {
		at.line = of.GetToken().Position.Line
	}
	return at
}

// ours are the names by which workflows use ralph, mirrors and images included.
var ours = pattern.Of(`(?:^|/)ralph(?:/host)?@`)

// OfWorkflow are the inputs that a workflow gives the step of ours that has the
// most of them: others only answer. What GitHub has to work out counts as not
// given.
func OfWorkflow(text []byte) (map[string]string, error) {
	var read struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if len(text) > maxYAML {
		return nil, fmt.Errorf("it has %d bytes, more than a workflow of ours", len(text))
	}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("read the workflow: %w", err)
	}
	var most map[string]any
	for _, name := range slices.Sorted(maps.Keys(read.Jobs)) {
		for _, step := range read.Jobs[name].Steps {
			if ours.MatchString(step.Uses) && len(step.With) > len(most) {
				most = step.With
			}
		}
	}
	inputs := map[string]string{}
	for name, value := range most {
		if said := fmt.Sprint(value); value != nil && !strings.Contains(said, "${{") {
			inputs[name] = said
		}
	}
	return inputs, nil
}
