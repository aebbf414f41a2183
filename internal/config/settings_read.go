package config

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/policy"
)

// File is a file as it was found; the name is what messages call it.
type File struct {
	Name string
	Data []byte
}

// Found are the settings files that a project has, the base before what one
// person changes in it; read gives nil for one that is not there.
func Found(project string, read func(project, name string) ([]byte, error)) ([]File, error) {
	var files []File
	for _, name := range []string{BaseSettings, localSettings} {
		data, err := read(project, name)
		if err != nil {
			return nil, err
		}
		if data != nil {
			files = append(files, File{Name: name, Data: data})
		}
	}
	return files, nil
}

// ReadSettings reads settings.json and what is laid over it, settings.local.json
// mostly. A later file's scalars and lists take the place of an earlier one's,
// objects are merged key by key, and null is as good as leaving a key out. The
// error says all that is wrong with any of them, one problem a line.
func ReadSettings(files ...File) (Settings, error) {
	var d decoder
	merged := d.laid(files)
	if err := d.fault(); err != nil {
		return Settings{}, err
	}
	return d.effective(merged), d.fault()
}

// laid are files of settings, each laid over those before it.
func (d *decoder) laid(files []File) node {
	merged := node{kind: kindObject}
	for _, f := range files {
		if root, ok := d.json(f); ok {
			d.settings(spot{node: root})
			merged = merge(merged, root)
		}
	}
	return merged
}

// effective are settings that are complete: what is needed may stand in any of
// the files, so it cannot be missed before they are one.
func (d *decoder) effective(root node) Settings {
	d.set = map[string]bool{}
	s := d.settings(spot{node: root})
	s.set = d.set
	if s.SCM != nil && s.SCM.Command == "" {
		scm, _ := root.member("scm")
		d.complain(spot{node: scm, path: "scm.command"}, "missing")
	}
	return s
}

func (d *decoder) settings(s spot) Settings {
	usual := policy.Of(policy.Guardrails)
	d.homes = map[string][]string{
		"agent": keys[Agent](), "guardrails[]": keys[Guardrail](), "scm": keys[SCM](),
		"review": keys[Review](), "limits": keys[Limits](), "sandbox": keys[Sandbox](),
		"guard": keys[Guard](), "guard.rules[]": keys[GuardRule](),
	}
	d.object(s, keys[Settings]())
	return Settings{
		Schema:                        given(d.field(s, "$schema"), "", d.text),
		MaximumIterations:             given(d.field(s, "maximumIterations"), usual.Limits.Iterations, d.whole),
		CompletionResponse:            given(d.field(s, "completionResponse"), usual.Word, d.text),
		OutputTruncateChars:           given(d.field(s, "outputTruncateChars"), usual.Excerpt.Chars, d.whole),
		StreamAgentOutput:             given(d.field(s, "streamAgentOutput"), true, d.flag),
		IncludeIterationCountInPrompt: given(d.field(s, "includeIterationCountInPrompt"), false, d.flag),
		Agent:                         d.agent(d.field(s, "agent")),
		Guardrails:                    given(d.field(s, "guardrails"), []Guardrail{}, each(d, d.guardrail)),
		SCM:                           optional(d.field(s, "scm"), d.scm),
		Limits:                        d.limits(d.field(s, "limits")),
		Protect:                       given(d.field(s, "protect"), nil, each(d, d.glob)),
		Proof:                         given(d.field(s, "proof"), "", d.bar),
		Tamper:                        given(d.field(s, "tamper"), "", d.tamper),
		Baseline:                      given(d.field(s, "baseline"), "", d.baseline),
		Review:                        d.review(d.field(s, "review")),
		Setup:                         given(d.field(s, "setup"), nil, each(d, d.text)),
		Sandbox:                       d.sandbox(d.field(s, "sandbox")),
		Guard:                         d.guard(d.field(s, "guard")),
	}
}

func (d *decoder) agent(s spot) Agent {
	d.object(s, keys[Agent]())
	return Agent{
		Command: given(d.field(s, "command"), "", d.words),
		Flags:   given(d.field(s, "flags"), []string{}, each(d, d.words)),
		Model:   given(d.field(s, "model"), "", d.text),
		Timeout: optional(d.field(s, "timeout"), d.duration),
		Prices:  given(d.field(s, "prices"), nil, d.prices),
	}
}

func (d *decoder) review(s spot) Review {
	d.object(s, keys[Review]())
	return Review{
		Agent: given(d.field(s, "agent"), "", d.words),
		Model: given(d.field(s, "model"), "", d.text),
	}
}

// prices go by names that are anybody's.
func (d *decoder) prices(s spot) map[string]Price {
	var models []string
	for _, m := range s.members {
		models = append(models, m.key)
	}
	d.object(s, models)
	prices := map[string]Price{}
	for _, model := range models {
		price := d.field(s, model)
		d.object(price, keys[Price](), "input", "output")
		prices[model] = Price{
			Input:      given(d.field(price, "input"), 0, d.money),
			Output:     given(d.field(price, "output"), 0, d.money),
			CacheRead:  optional(d.field(price, "cacheRead"), d.money),
			CacheWrite: optional(d.field(price, "cacheWrite"), d.money),
		}
	}
	return prices
}

func (d *decoder) guardrail(s spot) Guardrail {
	d.object(s, keys[Guardrail](), "command", "failAction")
	return Guardrail{
		Command:    given(d.field(s, "command"), "", d.text),
		FailAction: given(d.field(s, "failAction"), "", d.failAction),
		Hint:       given(d.field(s, "hint"), "", d.anyText),
		Timeout:    given(d.field(s, "timeout"), guardrailTimeout, d.duration),
	}
}

func (d *decoder) scm(s spot) SCM {
	d.object(s, keys[SCM]())
	return SCM{
		Command: given(d.field(s, "command"), "", d.text),
		Tasks:   given(d.field(s, "tasks"), []string{}, each(d, d.text)),
	}
}

func (d *decoder) limits(s spot) Limits {
	d.object(s, keys[Limits]())
	return Limits{
		MaxCost:    optional(d.field(s, "maxCost"), d.money),
		MaxTime:    optional(d.field(s, "maxTime"), d.duration),
		MaxTokens:  optional(d.field(s, "maxTokens"), d.within(0, 1e12)),
		StallAfter: optional(d.field(s, "stallAfter"), d.whole),
	}
}

func (d *decoder) sandbox(s spot) Sandbox {
	d.object(s, keys[Sandbox]())
	return Sandbox{
		Mode:         given(d.field(s, "mode"), "", d.mode),
		AllowDomains: given(d.field(s, "allowDomains"), nil, each(d, d.host)),
		SetupDomains: given(d.field(s, "setupDomains"), nil, each(d, d.host)),
		AllowModels:  given(d.field(s, "allowModels"), nil, each(d, d.named)),
		Env:          given(d.field(s, "env"), nil, each(d, d.variable)),
	}
}

func (d *decoder) guard(s spot) Guard {
	d.object(s, keys[Guard]())
	return Guard{Rules: given(d.field(s, "rules"), nil, each(d, d.guardRule))}
}

func (d *decoder) guardRule(s spot) GuardRule {
	d.object(s, keys[GuardRule](), "command")
	return GuardRule{
		Command:  given(d.field(s, "command"), "", d.text),
		Flags:    given(d.field(s, "flags"), nil, each(d, d.word)),
		Operands: given(d.field(s, "operands"), nil, each(d, d.word)),
		Unless:   given(d.field(s, "unless"), nil, each(d, d.word)),
		Why:      given(d.field(s, "why"), "", d.text),
		Instead:  given(d.field(s, "instead"), "", d.text),
		Allow:    given(d.field(s, "allow"), false, d.flag),
	}
}

// words is a string that agent.Words will be able to split.
func (d *decoder) words(s spot) string {
	line := d.text(s)
	split, err := agent.Words(line)
	switch {
	case err != nil:
		d.complain(s, "%s", err)
	case len(split) == 0 && !blank(line):
		d.complain(s, "found %s, want words that a shell would not take for a comment", s.node)
	}
	return line
}
