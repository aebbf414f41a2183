package egress

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
)

type judgement struct {
	model string
	drop  map[string]bool // top-level fields to remove
	media mediaTokens
	hour  bool // the maker caches input for an hour
}

// rules are the allowed models.
type rules struct{ models []string }

// judge checks a request. It removes unknown top-level fields first: a request of
// a newer client works without them, and they affect no other request.
func (r rules) judge(d Dialect, named string, tree map[string]any) (judgement, *Refusal) {
	inBody := text(tree["model"])
	v := judgement{model: cmp.Or(named, inBody), drop: map[string]bool{}}
	if named != "" && inBody != "" && strings.TrimPrefix(inBody, "models/") != named {
		return v, &Refusal{What: "model " + quoted(inBody), Why: "the path names another"}
	}
	if v.model == "" {
		return v, &Refusal{What: "a request", Why: "it names no model"}
	}
	if refused := r.model(v.model); refused != nil {
		return v, refused
	}
	j := bodyJudge{rules: r, grammar: grammars[d], read: grammars[d].judgedFields()}
	if refused := j.fields(tree); refused != nil {
		return v, refused
	}
	known := j.grammar.topFields()
	for name := range tree {
		if !j.grammar.fields[name] || slices.Contains(tiers, name) && tree[name] == "auto" {
			v.drop[name] = true
			delete(tree, name)
		} else if refused := checkSpelling(name, known); refused != nil {
			return v, refused
		}
	}
	refused := j.walk(tree)
	j.media.most += j.named * j.largest // the maker puts the whole tool in the place of each
	v.media, v.hour = j.media, j.hour
	return v, refused
}

// tiers are the fields that choose a price. Their default, "auto", is dropped: LiteLLM takes it for a more
// expensive tier.
var tiers = []string{"service_tier", "serviceTier", "speed", "inference_geo"}

// plainTiers cost what the price list says, or less.
var plainTiers = set("", "auto", "default", "standard", "standard_only", "service_tier_standard", "flex", "service_tier_flex", "global")

func (r rules) model(name string) *Refusal {
	name = strings.TrimPrefix(name, "models/") // Gemini's spelling in bodies
	refused := &Refusal{What: "model " + quoted(name), Why: "it is not a model of this run"}
	switch {
	case len(name) > maxModelName || strings.ContainsAny(name, ", \t\r\n"): // some gateways ask each of several
		refused.Why = "it is not the name of one model"
		return refused
	case searchModels.MatchString(name) && !slices.Contains(r.models, name):
		refused.Why = "it searches the web: ralph can limit neither its hosts nor its fee"
	case Allows(r.models, name):
		return nil
	}
	if modelName.MatchString(name) {
		refused.Input = "allow-models: " + name
	}
	return refused
}

const maxModelName = 200

// searchModels matches models that always search the web. A list has to name them exactly.
var searchModels = pattern.Of(`(?i):online$|-search($|-preview|-api)|deep-research|(^|/)(sonar|compound)`)

// ParseModels checks names and patterns of models.
func ParseModels(names []string) ([]string, error) {
	for _, name := range names {
		if !modelPattern.MatchString(name) {
			return nil, fault.Usage(fmt.Sprintf("cannot allow the model %.80q", name),
				"name models as the API does, such as claude-haiku-4-5 or claude-haiku-*", nil)
		}
	}
	return names, nil
}

var modelPattern = pattern.Of(`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`)

var modelName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$`)

var dateSuffix = pattern.Of(`-20\d\d-?\d\d-?\d\d$`)

// Allows reports whether a list allows a model: by name, by the name without the
// date of a snapshot, or by a pattern like "claude-haiku-*". An empty list allows
// all.
func Allows(models []string, name string) bool {
	if len(models) == 0 {
		return true
	}
	plain := dateSuffix.ReplaceAllString(name, "")
	return slices.ContainsFunc(models, func(m string) bool {
		like, err := path.Match(m, name)
		return m == name || m == plain || like && err == nil
	})
}

type bodyJudge struct {
	rules
	grammar         *grammar
	read            []string
	media           mediaTokens
	hour            bool
	within, counted bool  // in media that hasAddress searched already; in an object whose url is counted as a medium
	largest         int64 // size of the largest tool
	named           int64 // references to tools
}

func (j *bodyJudge) fields(tree map[string]any) *Refusal {
	for field, why := range j.grammar.closed {
		if value, there := tree[field]; there && value != nil && value != false && !isEmpty(value) {
			return &Refusal{What: field, Why: why}
		}
	}
	if refused := cmp.Or(checkTier(tree), j.checkEdits(tree)); refused != nil {
		return refused
	}
	if streams := tree["stream"]; j.grammar.fields["stream"] && streams != nil && streams != true && streams != false { // some servers take 1 for true
		return &Refusal{What: "stream", Why: "it is neither true nor false"}
	}
	if reasoning, _ := tree["reasoning"].(map[string]any); reasoning["mode"] != nil {
		return &Refusal{What: "reasoning.mode", Why: "it may cost more than the model's price"}
	}
	if field := otherModality(tree); field != "" {
		return &Refusal{What: field, Why: "images and sound cost more than the model's price"}
	}
	if items, _ := tree["input"].([]any); slices.ContainsFunc(items, isStoredItem) {
		return &Refusal{What: "item_reference", Why: stored}
	}
	return nil
}

func checkTier(tree map[string]any) *Refusal {
	for _, field := range tiers {
		if named, is := tree[field].(string); tree[field] != nil && (!is || !plainTiers[strings.ToLower(named)]) {
			return &Refusal{What: field + " " + quoted(named), Why: "it may cost more than the model's price"}
		}
	}
	return nil
}

// drawing is the type of OpenAI's items with a picture as their result.
const drawing = "image_generation_call"

// isStoredItem reports whether an item of the input refers to a stored one: its id stands for what it lacks.
func isStoredItem(item any) bool {
	fields, _ := item.(map[string]any)
	var holds bool
	switch text(fields["type"]) {
	case "":
		holds = text(fields["role"]) != "" && fields["content"] != nil
	case "reasoning":
		content, _ := fields["content"].([]any)
		holds = text(fields["encrypted_content"]) != "" || len(content) > 0
	case drawing:
		holds = text(fields["result"]) != ""
	default:
		return false
	}
	return fields["id"] != nil && !holds
}

// walk checks all fields of a value, except those with words of the model or a tool: no server obeys these.
func (j *bodyJudge) walk(value any) *Refusal {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if refused := j.walk(item); refused != nil {
				return refused
			}
		}
	case map[string]any:
		for field, inner := range value {
			if refused := j.field(value, field, inner); refused != nil {
				return refused
			}
		}
	}
	return nil
}

var toolLists = set("tools", "functions")

var toolCallTypes = set("tool_use", "server_tool_use", "mcp_tool_use")

// definesTool reports whether a field of Anthropic's messages holds a tool.
func definesTool(name string, value any) bool {
	object, is := value.(map[string]any)
	kind := text(object["type"])
	return is && name == "definition" || name == "tool" && kind != "" && kind != "tool_definition" && kind != "tool_reference"
}

func (j *bodyJudge) field(of map[string]any, name string, value any) *Refusal {
	refused, medium := checkSpelling(name, j.read), j.holdsMedia(of, name)
	defer func(within, counted bool) { j.within, j.counted = within, counted }(j.within, j.counted)
	j.counted = medium && isObject(value)
	switch {
	case refused != nil:
		return refused
	case j.grammar.opaque[name] || name == "input" && toolCallTypes[text(of["type"])]:
		return nil
	case toolLists[name]:
		refused = j.tools(value)
	case definesTool(name, value):
		refused = j.tools([]any{value})
	case name == "type" && text(value) == "tool_reference":
		j.named++
	case j.grammar.unpriced[name] && value != nil:
		refused = &Refusal{What: name, Why: "it may choose another model, or an answer in images or sound"}
	case name == "model" && text(value) != "":
		refused = j.model(text(value)) // a second model, such as an adviser or a fallback
	case j.isFetched(name, value) || j.hasAddress(of, name, value):
		refused = &Refusal{What: strings.Trim(quoted(name), `"`), Why: remote}
	case refusedAnywhere[name] != "" && value != nil && value != false && !isEmpty(value):
		refused = &Refusal{What: name, Why: refusedAnywhere[name]}
	case name == "type" && text(value) == "item_reference":
		refused = &Refusal{What: text(value), Why: stored}
	case name == "audio" && isObject(value): // an earlier answer, by its id
		refused = &Refusal{What: name, Why: stored}
	case name == "ttl" && text(value) == "1h":
		j.hour = true
	case medium && j.media.add(name, value, j.grammar.image):
		refused = &Refusal{What: name, Why: "sound costs more than the model's price"}
	}
	if refused != nil {
		return refused
	}
	return j.walk(value)
}

// checkEdits refuses edits of the context that do more than clear. A model writes a summary for
// some, and not every server counts its tokens.
func (j *bodyJudge) checkEdits(tree map[string]any) *Refusal {
	if !j.grammar.fields["context_management"] {
		return nil // unknown to this dialect, and dropped
	}
	management, _ := tree["context_management"].(map[string]any)
	edits, is := management["edits"].([]any)
	if !is {
		edits, _ = tree["context_management"].([]any)
	}
	for _, edit := range edits {
		fields, _ := edit.(map[string]any)
		if kind := text(fields["type"]); !strings.HasPrefix(kind, "clear_") {
			return &Refusal{What: "edit " + quoted(kind), Why: "the answer may not count its tokens"}
		}
	}
	return nil
}

// tools refuses each tool that is not known to run in the agent's sandbox.
func (j *bodyJudge) tools(value any) *Refusal {
	list, is := value.([]any)
	if !is && value != nil {
		return &Refusal{What: "tools", Why: "they are not a list"}
	}
	var refused *Refusal
	for _, item := range list {
		j.largest = max(j.largest, sizeOf(item), addedTokens) // the maker has words of its own for its tools
		refused = cmp.Or(refused, j.tool(item))
	}
	return refused
}

func (j *bodyJudge) tool(item any) *Refusal {
	tool, is := item.(map[string]any)
	if !is {
		return &Refusal{What: "tools", Why: "one of them is no object"}
	}
	for _, kind := range j.grammar.kind(tool) {
		if !j.grammar.isLocalTool(kind) {
			return &Refusal{What: "tool " + quoted(kind), Why: "it runs at the maker: ralph can limit neither its hosts nor its cost"}
		}
	}
	return nil
}
