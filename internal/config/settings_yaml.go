package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/yamlfile"
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

// onEdits finds edits of comments in the printed events of a workflow. Without types, all count.
var onEdits = pattern.Of(`issue_comment(:map\[types:\[?[^\]]*edited|:<nil>|[^:]|$)`)

// StartsOnEdits reports whether edits of comments start a workflow.
func StartsOnEdits(workflow []byte) bool {
	var read struct{ On any }
	return yamlfile.Decode(workflow, &read) == nil && onEdits.MatchString(fmt.Sprint(read.On))
}
