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

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/yamlfile"
)

// parseYAML reads one document without anchors, aliases, tags and merge keys, with which
// a small file could expand to a large one.
func (d *decoder) parseYAML(f File) (node, bool) {
	data, wrong := jsontree.Plain(f.Name, f.Data, yamlfile.Largest)
	if !d.isReadable(wrong) {
		return node{}, false
	}
	file, err := yamlfile.Parse(data, parser.AllowDuplicateMapKey())
	if err != nil {
		d.Problems = append(d.Problems, brokenYAML(f.Name, err))
		return node{}, false
	}
	var roots []node
	for _, doc := range file.Docs {
		if doc.Body != nil {
			roots = append(roots, yamlNode(f.Name, doc.Body))
		}
	}
	switch {
	case len(roots) == 0:
		return node{Kind: jsontree.Null, File: f.Name, Line: 1}, true
	case len(roots) > 1:
		d.Report(jsontree.At{Node: roots[1]}, "found a second document, want one")
		return node{}, false
	}
	return roots[0], true
}

func brokenYAML(name string, err error) jsontree.Problem {
	p := jsontree.Problem{File: name, Text: "broken YAML: " + err.Error()}
	if at, is := errors.AsType[yaml.Error](err); is {
		p.Text = "broken YAML: " + at.GetMessage()
		if token := at.GetToken(); token != nil && token.Position != nil {
			p.Line, p.Column = token.Position.Line, token.Position.Column
		}
	}
	return p
}

func yamlNode(file string, from ast.Node) node {
	n := node{File: file, Line: lineOf(from)}
	switch from := from.(type) {
	case *ast.NullNode:
		n.Kind = jsontree.Null
	case *ast.BoolNode:
		n.Kind, n.Text = jsontree.Bool, strconv.FormatBool(from.Value)
	case *ast.IntegerNode:
		n.Kind, n.Text = jsontree.Number, fmt.Sprint(from.Value)
	case *ast.FloatNode:
		n.Kind, n.Text = jsontree.Number, strconv.FormatFloat(from.Value, 'g', -1, 64)
	case *ast.StringNode:
		n.Kind, n.Text = jsontree.Text, from.Value
	case *ast.LiteralNode:
		n.Kind, n.Text = jsontree.Text, from.Value.Value
	case *ast.SequenceNode:
		n.Kind = jsontree.List
		for _, item := range from.Values {
			n.Items = append(n.Items, yamlNode(file, item))
		}
	case *ast.MappingNode:
		n.Kind, n.Members = jsontree.Object, yamlMembers(file, from.Values)
	case *ast.MappingValueNode:
		n.Kind, n.Members = jsontree.Object, yamlMembers(file, []*ast.MappingValueNode{from})
	default:
		n.Kind, n.Text = jsontree.Odd, "YAML syntax that is not supported"
		if from != nil {
			n.Text = "YAML's " + from.Type().YAMLName()
		}
	}
	return n
}

func yamlMembers(file string, from []*ast.MappingValueNode) []jsontree.Member {
	var all []jsontree.Member
	for _, m := range from {
		key := m.Key.String()
		if text, is := m.Key.(*ast.StringNode); is {
			key = text.Value
		}
		all = append(all, jsontree.Member{Key: key, Line: lineOf(m.Key), Value: yamlNode(file, m.Value)})
	}
	return all
}

func lineOf(n ast.Node) int {
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		return n.GetToken().Position.Line
	}
	return 0
}

// ralphAction also matches mirrors and images of ralph's action.
var ralphAction = pattern.Of(`(?:^|/)ralph(?:/host)?@`)

// InputsOfWorkflow returns the inputs of the ralph step with the most inputs, without expressions.
func InputsOfWorkflow(text []byte) (map[string]string, error) {
	var read struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]any
			}
		}
	}
	if err := yamlfile.Decode(text, &read); err != nil {
		return nil, fmt.Errorf("read the workflow: %w", err)
	}
	var most map[string]any
	for _, name := range slices.Sorted(maps.Keys(read.Jobs)) {
		for _, step := range read.Jobs[name].Steps {
			if ralphAction.MatchString(step.Uses) && len(step.With) > len(most) {
				most = step.With
			}
		}
	}
	inputs := map[string]string{}
	for name, value := range most {
		if text := fmt.Sprint(value); value != nil && !strings.Contains(text, "${{") {
			inputs[name] = text
		}
	}
	return inputs, nil
}
