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
	text, err := yamlToJSON(data)
	if err != nil {
		d.Problems = append(d.Problems, jsontree.Problem{
			File: f.Name,
			Text: "broken YAML: " + yaml.FormatError(err, false, false),
		})
		return node{}, false
	}
	d.yaml = f.Name
	return d.parseJSON(File{f.Name, text})
}

func yamlToJSON(data []byte) ([]byte, error) {
	file, err := yamlfile.Parse(data)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("found several documents, want one")
	}
	var value any
	if err := yamlfile.Decode(data, &value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
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
		if value == nil {
			continue
		}
		text := fmt.Sprint(value)
		if !strings.Contains(text, "${{") {
			inputs[name] = text
		}
	}
	return inputs, nil
}
