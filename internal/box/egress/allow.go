package egress

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// checkModel refuses a model that is not allowed. Gemini's bodies begin a name with models/.
func checkModel(models []string, name string) *Refusal {
	name = strings.TrimPrefix(name, "models/")
	refused := &Refusal{What: "model " + quoted(name), Why: "it is not a model of this run"}
	if !modelName.MatchString(name) { // some gateways ask each of several
		refused.Why = "it is not the name of one model"
		return refused
	}
	refused.Input = "sandbox.allowModels: " + name
	if searchModels.MatchString(name) && !slices.Contains(models, name) {
		refused.Why = "it searches the web: ralph can limit neither its hosts nor its fee"
		return refused
	}
	if Allows(models, name) {
		return nil
	}
	return refused
}

// searchModels matches models that always search the web. A list has to name them exactly.
var searchModels = pattern.Of(`(?i):online$|-search($|-preview|-api)|deep-research|(^|/)(sonar|compound)`)

var modelName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}$`)

var dateSuffix = pattern.Of(`-20\d\d-?\d\d-?\d\d$`)

// Allows reports whether a list allows a model: by name, by the name without the date of a snapshot, or by a pattern
// like "claude-haiku-*". An empty list allows all.
func Allows(models []string, name string) bool {
	if len(models) == 0 {
		return true
	}
	plain := dateSuffix.ReplaceAllString(name, "")
	return slices.ContainsFunc(models, func(m string) bool {
		if m == name || m == plain {
			return true
		}
		ok, err := path.Match(m, name)
		return ok && err == nil
	})
}
