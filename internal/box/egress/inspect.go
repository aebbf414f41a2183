package egress

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const remote = "the provider would run or fetch it: ralph can limit neither its hosts nor its cost"

// refusedFields let the provider run or fetch something, or hide the usage of an answer.
var refusedFields = map[string]string{
	"mcp_servers": remote, "container": remote, "web_search_options": remote, "prompt": remote,
	"background": "its usage could not be counted",
}

// opaqueFields hold words of the agent, or schemas of its tools: no provider obeys them.
var opaqueFields = set("args", "env", "response", "metadata", "client_metadata",
	"parameters", "parametersJsonSchema", "schema", "input_schema", "output_schema", "input_examples",
	"responseSchema", "response_schema", "responseJsonSchema")

// toolFields hold a tool, or a list of tools.
var toolFields = set("tools", "functions", "tool", "definition")

var addressField = pattern.Of(`(?i)ur[li]$`)

// inspection looks in a body for models that are not allowed, and for tools and addresses that the
// provider's server would run or fetch.
type inspection struct {
	dialect Dialect
	models  []string
	media   int64 // bytes of pictures and files
}

func (i *inspection) object(fields map[string]any, isTool bool) *Refusal {
	for name, value := range fields {
		if why := refusedFields[name]; why != "" && !isUnset(value) {
			return &Refusal{What: name, Why: why}
		}
		_, isObject := value.(map[string]any)
		isToolInput := name == "input" && isObject
		if opaqueFields[name] || isToolInput {
			continue
		}
		if refused := i.value(name, value, toolFields[name]); refused != nil {
			return refused
		}
	}
	if !isTool {
		return nil
	}
	return grammars[i.dialect].checkTool(fields)
}

func (i *inspection) value(field string, value any, isTool bool) *Refusal {
	switch value := value.(type) {
	case string:
		return i.text(field, value)
	case []any:
		for _, item := range value {
			if refused := i.value(field, item, isTool); refused != nil {
				return refused
			}
		}
	case map[string]any:
		return i.object(value, isTool)
	}
	return nil
}

func (i *inspection) text(field, text string) *Refusal {
	const scheme = "data:"
	isData := len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme)
	if isData || field == "data" || field == "file_data" {
		i.media += int64(len(text))
	}
	if field == "model" {
		return checkModel(i.models, text)
	}
	if addressField.MatchString(field) && !isData && text != "" {
		return &Refusal{What: strings.Trim(quoted(field), `"`), Why: remote}
	}
	return nil
}

func isUnset(value any) bool {
	if value == nil || value == false {
		return true
	}
	list, ok := value.([]any)
	return ok && len(list) == 0
}

// checkTool refuses each tool that is not known to run in the agent's sandbox.
func (g *grammar) checkTool(tool map[string]any) *Refusal {
	for _, kind := range g.kinds(tool) {
		isLocal := func(known string) bool { return isKind(known, kind) }
		if !slices.ContainsFunc(g.tools, isLocal) {
			return &Refusal{What: "tool " + quoted(kind), Why: remote}
		}
	}
	return nil
}

func isKind(known, kind string) bool {
	if start, ok := strings.CutSuffix(known, "*"); ok {
		return strings.HasPrefix(kind, start)
	}
	return kind == known
}

func kindByType(usual string) func(map[string]any) []string {
	return func(tool map[string]any) []string {
		kind, isText := tool["type"].(string)
		switch {
		case tool["type"] == nil:
			kind = usual
		case !isText:
			kind = "unreadable"
		case tool["execution"] == "client": // OpenAI's search for tools runs at the provider unless this is set
			kind += " by the client"
		}
		return []string{kind}
	}
}

// kindByFields is for Gemini, whose tools are named by their fields.
func kindByFields(tool map[string]any) []string { return slices.Collect(maps.Keys(tool)) }

// rawStrings keeps incomplete characters, which clients send when they cut a text.
var rawStrings = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))

// maxCommas limits the memory that a body takes as a tree. A real one has less than one for 20 bytes.
const maxCommas = 2_000_000

// readObject refuses duplicate fields: servers differ in which of them they use.
func readObject(body []byte) (tree map[string]any, refused *Refusal) {
	if bytes.Count(body, []byte(",")) > maxCommas {
		return nil, &Refusal{What: "a request", Why: "its body has too many values"}
	}
	err := json.Unmarshal(body, &tree, rawStrings)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, &Refusal{What: "a request", Why: "its body has a duplicate field"}
	}
	if err != nil || tree == nil {
		return nil, &Refusal{What: "a request", Why: "its body is not a JSON object"}
	}
	return tree, nil
}
