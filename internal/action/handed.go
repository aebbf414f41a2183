package action

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// handed names the inputs as one JSON object. So the Action on the runner itself
// hands them on: its steps get no variable for each, as a container does, and
// shells drop those with a dash in their names.
const handed = "RALPH_INPUTS"

// Handed is the environment of a job with those inputs in it.
func Handed(getenv func(string) string) (func(string) string, error) {
	text := getenv(handed)
	if text == "" {
		return getenv, nil
	}
	var inputs map[string]string
	if err := json.Unmarshal([]byte(text), &inputs); err != nil {
		return nil, fault.Usage("cannot read the inputs in "+handed, "give it the JSON that ${{ toJSON(inputs) }} makes", err)
	}
	named := map[string]string{}
	for name, value := range inputs {
		named["INPUT_"+strings.ToUpper(name)] = value
	}
	return func(name string) string { return cmp.Or(named[name], getenv(name)) }, nil
}
