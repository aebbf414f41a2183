package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/pattern"
)

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
