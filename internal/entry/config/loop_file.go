package config

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Loop is the file of --config. The preset decides about nil and "", and 0 is no limit.
type Loop struct {
	MaxIterations *int             `json:"max_iterations" jsonschema:"minimum=1,maximum=100"`
	MaxCost       *float64         `json:"max_cost" jsonschema:"minimum=0,maximum=1000000000"`
	MaxTime       *policy.Duration `json:"max_time"`
	CompletionTag string           `json:"completion_tag" jsonschema:"pattern=\\S"`
	Agent         string           `json:"agent" check:"agent"` // "" for the default, which the file calls build

	Settings Settings // effective settings, with those of the project
}

// loopFile is a file with a section for a loop.
type loopFile struct {
	Loop Loop `json:"ralph_loop"`
}

const loopSection = "ralph_loop"

// ReadLoop reads the file of --config, in YAML or JSON. It has either ralph_loop or settings, which override those of
// the project, as settings.local.json does. completionResponse does not set the tag: it belongs to another preset.
func ReadLoop(f File, project ...File) (Loop, error) {
	d := newDecoder()
	merged := d.mergeFiles(project)
	root, ok := d.parse(f)
	at := jsontree.At{Node: root}
	var loop Loop
	switch {
	case ok && isLoop(root):
		loop = d.loop(at)
	case ok:
		own := d.settings(at)
		merged = merge(merged, root)
		if _, given := at.Member("maximumIterations"); given || own.Limits.MaxIterations != nil {
			loop.MaxIterations = &own.MaximumIterations
		}
	}
	if len(d.Problems) == 0 {
		loop.Settings = d.effective(merged)
	}
	return loop, d.fault()
}

// isLoop reports whether a file has a section for a loop, perhaps misspelled, or keys of that section.
func isLoop(root node) bool {
	loopKeys := jsontree.Keys(reflect.TypeFor[Loop]())
	for _, m := range root.Members {
		if _, near := jsontree.Nearest(m.Key, []string{loopSection}); near {
			return true
		}
		if m.Key == "agent" { // settings have this key, too
			continue
		}
		if slices.Contains(loopKeys, m.Key) {
			return true
		}
	}
	return false
}

func (d *decoder) loop(root jsontree.At) Loop {
	var file loopFile
	d.Decode(root, &file)
	loop := file.Loop
	section, _ := root.Member(loopSection)
	for _, m := range section.Members { // null is no limit, unlike a missing key
		switch {
		case m.Value.Kind != jsontree.Null:
		case m.Key == "max_cost":
			loop.MaxCost = new(float64)
		case m.Key == "max_time":
			loop.MaxTime = new(policy.Duration)
		}
	}
	if loop.Agent == buildAgent {
		loop.Agent = ""
	}
	return loop
}

// ApplyTo returns the preset with the loop's settings, except maximumIterations, which counts
// differently in other presets.
func (l Loop) ApplyTo(p policy.Policy) policy.Policy {
	p = l.Settings.applyWithoutIterations(p)
	p.Limits = Limits{MaxCost: l.MaxCost, MaxTime: l.MaxTime}.applyTo(p.Limits)
	p.Limits.Iterations = policy.Given(l.MaxIterations, p.Limits.Iterations)
	p.Word = cmp.Or(l.CompletionTag, p.Word)
	p.Agent = cmp.Or(l.Agent, p.Agent)
	return p
}

// ApplyToRun is ApplyTo with maximumIterations, which max_iterations overrides.
func (l Loop) ApplyToRun(p policy.Policy) policy.Policy {
	if l.MaxIterations == nil && l.Settings.Has("maximumIterations") {
		l.MaxIterations = &l.Settings.MaximumIterations
	}
	return l.ApplyTo(p)
}
