package config

import (
	"bytes"
	"cmp"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Loop is what --config says: seed 004's ralph_loop, or settings. Nil and ""
// leave it to the preset, 0 turns a limit off.
type Loop struct {
	MaxIterations *int             `json:"max_iterations"`
	MaxCost       *float64         `json:"max_cost"`
	MaxTime       *policy.Duration `json:"max_time"`
	CompletionTag string           `json:"completion_tag"`
	Agent         string           `json:"agent"` // "" for the default, which seed 004 calls build

	Settings Settings // all that are in force, the project's own included
}

var loopKeys = keyNames(reflect.TypeFor[Loop]())

// loopSection is where a loop's keys stand.
const loopSection = "ralph_loop"

// ReadLoop reads a file that --config names, in YAML or JSON: its root tells
// whether it has ralph_loop or settings. Settings are laid over those of the
// project, as settings.local.json is. They say nothing of the tag, since
// completionResponse is what an agent answers, in another preset.
func ReadLoop(f File, project ...File) (Loop, error) {
	return new(decoder).readConfig(f, project)
}

// ReadRun reads such a file for a run, whose iterations know no such bounds.
func ReadRun(f File, project ...File) (Loop, error) {
	return (&decoder{isRun: true}).readConfig(f, project)
}

func (d *decoder) readConfig(f File, project []File) (Loop, error) {
	read := d.parseJSON
	if !isJSON(f) {
		read = d.parseYAML
	}
	below := d.mergeFiles(project)
	var loop Loop
	root, ok := read(f)
	switch {
	case ok && isLoop(root):
		loop = d.loop(pathNode{node: root}, below)
	case ok:
		loop = d.loopFromSettings(root, below)
	}
	if err := d.fault(); err != nil {
		return Loop{}, err
	}
	return loop, nil
}

// isJSON decides by the file name, and by the content if the name says nothing.
// YAML may begin with a brace too, but such a file is named .yaml.
func isJSON(f File) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	data := bytes.TrimPrefix(f.Data, []byte("\uFEFF"))
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

// isLoop says that a loop was meant, though perhaps mistyped or with its
// keys at the root.
func isLoop(root node) bool {
	return slices.ContainsFunc(root.Members, func(m jsontree.Member) bool {
		_, near := plan.Nearest(m.Key, []string{loopSection})
		return near || m.Key != "agent" && slices.Contains(loopKeys, m.Key)
	})
}

func (d *decoder) loop(root pathNode, below node) Loop {
	d.objectKeys = map[string][]string{loopSection: loopKeys}
	d.checkObject(root, []string{loopSection})
	d.objectKeys = nil
	s := d.field(root, loopSection)
	d.checkObject(s, loopKeys)
	loop := Loop{
		MaxIterations: pointerTo(d.field(s, "max_iterations"), d.integer(1, 100)),
		MaxCost:       nullAsUnlimited(s, "max_cost", pointerTo(d.field(s, "max_cost"), d.money)),
		MaxTime:       nullAsUnlimited(s, "max_time", pointerTo(d.field(s, "max_time"), d.duration)),
		CompletionTag: valueOr(d.field(s, "completion_tag"), "", d.text),
		Agent:         valueOr(d.field(s, "agent"), "", d.agentName),
	}
	loop.Settings = d.effectiveIfValid(below)
	return loop
}

// nullAsUnlimited is seed 004's null: it says that there is no limit, where a key
// that is left out says nothing.
func nullAsUnlimited[T any](s pathNode, key string, limit *T) *T {
	isNull := func(m jsontree.Member) bool { return m.Key == key && m.Value.Kind == jsontree.Null }
	if limit == nil && slices.ContainsFunc(s.Members, isNull) {
		return new(T)
	}
	return limit
}

func (d *decoder) agentName(s pathNode) string {
	if s.Kind == jsontree.Text && s.Text == "build" {
		return ""
	}
	return d.oneOf(s, append([]string{"build"}, agent.Names()...))
}

func (d *decoder) loopFromSettings(root, below node) Loop {
	d.settings(pathNode{node: root})
	s := d.effectiveIfValid(merge(below, root))
	loop := Loop{MaxCost: s.Limits.MaxCost, MaxTime: s.Limits.MaxTime, Settings: s}
	if len(d.problems) == 0 && !d.isRun {
		given := d.field(d.field(pathNode{node: root}, "limits"), "maxIterations")
		if given.Kind == jsontree.None {
			given = d.field(pathNode{node: root}, "maximumIterations")
		}
		loop.MaxIterations = pointerTo(given, d.integer(1, 100))
	}
	return loop
}

// effectiveIfValid are the settings of files that nothing is wrong with; what is wrong was
// said before.
func (d *decoder) effectiveIfValid(merged node) Settings {
	if len(d.problems) > 0 {
		return Settings{}
	}
	return d.effective(merged)
}

// ApplyTo lays what was set over a preset. The project's maximumIterations are
// meant for other presets, which count otherwise.
func (l Loop) ApplyTo(p policy.Policy) policy.Policy {
	most := p.Limits.Iterations
	p = l.Settings.ApplyTo(p)
	p.Limits.Iterations = most
	p.Limits = Limits{MaxCost: l.MaxCost, MaxTime: l.MaxTime}.applyTo(p.Limits)
	if l.MaxIterations != nil {
		p.Limits.Iterations = *l.MaxIterations
	}
	if l.CompletionTag != "" {
		p.Word = l.CompletionTag
	}
	if l.Agent != "" {
		p.Agent = l.Agent
	}
	return p
}

// ApplyToRun is Over for a run, in which the maximumIterations of the settings
// count.
func (l Loop) ApplyToRun(p policy.Policy) policy.Policy {
	if l.MaxIterations == nil && l.Settings.Has("maximumIterations") {
		l.MaxIterations = &l.Settings.MaximumIterations
	}
	return l.ApplyTo(p)
}

// BaseSettings is where a repository's settings stand, if the input config does
// not say otherwise.
const BaseSettings = ".ralph/settings.json"

const localSettings = ".ralph/settings.local.json"

// ApplyToInputs lays settings of the base branch under the inputs. They name the checks
// and the setup where the workflow names none, and may ask for less than it
// allows, never for more. Who works, with what, and what that may reach is for
// the workflow to say, and so is who gives a second opinion: with another agent
// come its key, its hosts and its models.
func (s Settings) ApplyToInputs(in *Inputs) {
	p := &in.Policy
	if len(p.Checks) == 0 {
		p.Checks = s.checks()
		for i := range p.Checks {
			p.Checks[i].Timeout = lowerLimit(p.Checks[i].Timeout, in.CheckTimeout)
			p.Checks[i].FailAction = "" // of prompts, and these are stories
		}
	}
	if len(p.Setup) == 0 {
		p.Setup = policy.NewSetup(s.Setup, in.CheckTimeout)
	}
	in.Needs.Env = slices.Concat(s.CheckEnv, in.Needs.Env)
	p.Protect = slices.Concat(p.Protect, s.Protect)
	p.Limits = s.lowerLimits(p.Limits)
	if s.Proof == policy.RedToGreen {
		p.Proof = s.Proof
	}
	if s.Baseline == policy.BaselineStrict {
		p.Baseline = s.Baseline
	}
	p.Tamper = stricter(p.Tamper, s.Tamper)
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = min(cmp.Or(s.OutputTruncateChars, maxOutput), maxOutput)
	}
}

func stricter(a, b policy.Tamper) policy.Tamper {
	order := []policy.Tamper{policy.TamperAllow, policy.TamperReport, policy.TamperBlock}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

func (s Settings) lowerLimits(l policy.Limits) policy.Limits {
	if s.Has("maximumIterations") {
		l.Iterations = lowerLimit(l.Iterations, s.MaximumIterations)
	}
	own := s.Limits.applyTo(policy.Limits{})
	if s.Agent.Timeout != nil {
		own.Iteration = *s.Agent.Timeout
	}
	l.CostUSD, l.Tokens = lowerLimit(l.CostUSD, own.CostUSD), lowerLimit(l.Tokens, own.Tokens)
	l.Run, l.Iteration, l.Stall = lowerLimit(l.Run, own.Run), lowerLimit(l.Iteration, own.Iteration), lowerLimit(l.Stall, own.Stall)
	return l
}

// lowerLimit is the lower of two limits, of which 0 is none.
func lowerLimit[T int | int64 | float64 | policy.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
