package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/yamlfile"
)

// parseYAML reads one document. Its tree has no lines: fault adds those of the problems.
func (d *decoder) parseYAML(f File) (node, bool) {
	data, wrong := jsontree.Plain(f.Name, f.Data, yamlfile.Largest)
	if !d.isReadable(wrong) {
		return node{}, false
	}
	text, err := d.asJSON(f.Name, data)
	if err != nil {
		return node{}, d.isReadable(brokenYAML(f.Name, err))
	}
	return d.parseJSON(File{f.Name, text})
}

func (d *decoder) asJSON(name string, data []byte) ([]byte, error) {
	file, err := yamlfile.Parse(data)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("found several documents, want one")
	}
	d.lines[name] = lines{}
	for _, document := range file.Docs {
		if document.Body != nil {
			ast.Walk(d.lines[name], document.Body)
		}
	}
	var value any
	if err := yamlfile.Decode(data, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func brokenYAML(name string, err error) *jsontree.Problem {
	p := &jsontree.Problem{File: name, Text: "broken YAML: " + err.Error()}
	if at, is := errors.AsType[yaml.Error](err); is {
		p.Text = "broken YAML: " + at.GetMessage()
		if token := at.GetToken(); token != nil && token.Position != nil {
			p.Line, p.Column = token.Position.Line, token.Position.Column
		}
	}
	return p
}

// lines are those of a YAML file's values, by their paths, such as $.guardrails[0].command.
type lines map[string]int

// Visit keeps the line of a key before that of its value.
func (l lines) Visit(at ast.Node) ast.Visitor {
	if _, known := l[at.GetPath()]; !known && at.GetToken() != nil {
		l[at.GetPath()] = at.GetToken().Position.Line
	}
	return l
}

// of returns the line of a value, or of the nearest one around it.
func (l lines) of(path string) int {
	path = "$." + path
	for l[path] == 0 && path != "" {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return l[path]
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
