package agent

import (
	"slices"
	"strings"
)

// families are the words by which a CLI's users name its newest model of a
// kind, and what it makes of them.
var families = map[string]map[string][]string{
	"claude": {
		"opus": {"claude-opus-*"}, "sonnet": {"claude-sonnet-*"}, "haiku": {"claude-haiku-*"}, "opusplan": {"claude-opus-*", "claude-sonnet-*"},
		"default": {}, "best": {},
	},
	"gemini": {
		"pro": {"gemini-*pro*"}, "flash": {"gemini-*flash*"}, "flash-lite": {"gemini-*flash*"},
		"auto": {"gemini-*"}, "auto-gemini-2.5": {"gemini-2.5-*"}, "auto-gemini-3": {"gemini-3*"},
	},
}

// helpers are the small models that a CLI asks by itself: for titles, summaries,
// fetched pages, and by its own subagents.
var helpers = map[string][]string{
	"claude": {"claude-haiku-*"},
	"gemini": {"gemini-*flash*"},
}

// Models are those that an agent asks for, as its maker's API names them or as
// patterns of that, when it is told that model. None: it is not told any, so
// nobody knows. More are what its user allows besides.
func Models(name, model string, more []string) []string {
	asked := modelsBy(name, model)
	if len(asked)+len(more) == 0 {
		return nil
	}
	return slices.Concat(asked, more, helpers[name])
}

func modelsBy(name, model string) []string {
	model, _, _ = strings.Cut(model, "[") // claude's way to ask for a longer context
	if model == "" {
		return nil
	}
	if family, is := families[name][model]; is {
		return family
	}
	if _, after, named := strings.Cut(model, "/"); named && name == "opencode" {
		model = after // of a provider
	}
	return []string{model}
}
