package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

// parseYAML reads YAML as the JSON that it stands for. Problems of its values have no line.
func (d *decoder) parseYAML(f File) (node, bool) {
	data, wrong := jsontree.Plain(f.Name, f.Data, yamlfile.Largest)
	if !d.isReadable(wrong) {
		return node{}, false
	}
	file, err := yamlfile.Parse(data)
	if err == nil && len(file.Docs) > 1 {
		err = errors.New("found several documents, want one")
	}
	var value any
	if err == nil {
		err = yamlfile.Decode(data, &value)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err != nil {
		return node{}, d.isReadable(&jsontree.Problem{File: f.Name, Text: "broken YAML: " + yaml.FormatError(err, false, false)})
	}
	d.yaml = f.Name
	return d.parseJSON(File{f.Name, text})
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

// StartsOnEdits reports whether edits of comments start a workflow. Without types, all count.
func StartsOnEdits(workflow []byte) bool {
	const event = "issue_comment"
	var read struct{ On any }
	if yamlfile.Decode(workflow, &read) != nil || !slices.Contains(namesIn(read.On), event) {
		return false
	}
	events, _ := read.On.(map[string]any)
	of, _ := events[event].(map[string]any)
	return of["types"] == nil || slices.Contains(namesIn(of["types"]), "edited")
}

// namesIn returns the names in a value of a workflow: it is one, a list of them, or an object by them.
func namesIn(value any) (names []string) {
	switch value := value.(type) {
	case map[string]any:
		return slices.Collect(maps.Keys(value))
	case []any:
		for _, name := range value {
			names = append(names, fmt.Sprint(name))
		}
		return names
	}
	return []string{fmt.Sprint(value)}
}
