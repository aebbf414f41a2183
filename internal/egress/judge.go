package egress

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
)

type judgement struct {
	model string
	drop  map[string]bool // fields on top that are left out
	media mediaTokens
	hour  bool // input is to be kept for an hour
}

// rules are the allowed models, and whether other features are checked.
type rules struct {
	models []string
	open   bool
}

// judge holds a request against the rules. Fields on top that are not known are
// left out before anything else is looked at: a newer client is understood
// without them, and none of them takes effect outside of its request.
func (r rules) judge(d Dialect, named string, tree map[string]any) (judgement, *Refusal) {
	v := judgement{model: named}
	if inBody, is := tree["model"].(string); is && named == "" {
		v.model = inBody
	}
	if v.model == "" {
		return v, &Refusal{What: "a request", Why: "it names no model"}
	}
	if no := r.model(v.model); no != nil {
		return v, no
	}
	j := bodyJudge{rules: r, grammar: grammars[d], read: grammars[d].read()}
	if no := j.fields(tree); no != nil {
		return v, no
	}
	v.drop = map[string]bool{}
	known := j.grammar.top()
	for name := range tree {
		if !j.grammar.fields[name] && !r.open {
			v.drop[name] = true
			delete(tree, name)
		} else if no := spelled(name, known); no != nil {
			return v, no
		}
	}
	no := j.walk(tree)
	v.media, v.hour = j.media, j.hour
	return v, no
}

var tiers = []string{"service_tier", "serviceTier", "speed", "inference_geo"}

// plainTiers cost what the price list says, or less.
var plainTiers = set("", "auto", "default", "standard", "standard_only", "service_tier_standard", "flex", "service_tier_flex", "global")

func (r rules) model(name string) *Refusal {
	name = strings.TrimPrefix(name, "models/") // as Gemini writes it in bodies
	no := &Refusal{What: "model " + quoted(name), Why: "it is not a model of this run"}
	switch {
	case !r.open && searching.MatchString(name) && !slices.Contains(r.models, name):
		no.Why = "it searches the web, outside the allow list, and for a fee"
	case Allows(r.models, name):
		return nil
	}
	if likely.MatchString(name) {
		no.Input = "allow-models: " + name
	}
	return no
}

// searching are models that search the web unasked. A list has to name them exactly.
var searching = pattern.Of(`(?i):online$|-search-(preview|api)|(^|/)sonar`)

// ParseModels reads names of models, and patterns of them.
func ParseModels(names []string) ([]string, error) {
	for _, name := range names {
		if !listed.MatchString(name) {
			return nil, fault.Usage(fmt.Sprintf("cannot allow the model %.80q", name),
				"name models as the API does, such as claude-haiku-4-5 or claude-haiku-*", nil)
		}
	}
	return names, nil
}

var listed = pattern.Of(`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`)

var likely = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$`)

var dated = pattern.Of(`-20\d\d-?\d\d-?\d\d$`)

// Allows tells whether a list of models has that one: by its name, by that of
// which it is a snapshot, or by a pattern, "claude-haiku-*". A list without any
// has them all.
func Allows(models []string, name string) bool {
	if len(models) == 0 {
		return true
	}
	plain := dated.ReplaceAllString(name, "")
	return slices.ContainsFunc(models, func(m string) bool {
		like, err := path.Match(m, name)
		return m == name || m == plain || like && err == nil
	})
}

type bodyJudge struct {
	rules
	grammar *grammar
	read    []string
	media   mediaTokens
	hour    bool
	within  bool // media, all of which was looked through
}

func (j *bodyJudge) fields(tree map[string]any) *Refusal {
	for field, why := range j.grammar.closed {
		counted := j.open && (why == remote || why == stored)
		if value, there := tree[field]; there && value != nil && value != false && !isEmpty(value) && !counted {
			return &Refusal{What: field, Why: why}
		}
	}
	if no := tier(tree); no != nil {
		return no
	}
	if streams := tree["stream"]; j.grammar.fields["stream"] && streams != nil && streams != true && streams != false { // some servers take 1 for true
		return &Refusal{What: "stream", Why: "it is neither true nor false"}
	}
	if field := otherModality(tree); field != "" {
		return &Refusal{What: field, Why: "images and sound cost more than the model's price"}
	}
	if items, _ := tree["input"].([]any); !j.open && slices.ContainsFunc(items, reference) {
		return &Refusal{What: "item_reference", Why: stored}
	}
	return nil
}

func tier(tree map[string]any) *Refusal {
	for _, field := range tiers {
		if named, is := tree[field].(string); tree[field] != nil && (!is || !plainTiers[strings.ToLower(named)]) {
			return &Refusal{What: field + " " + quoted(named), Why: "it may cost more than the model's price"}
		}
	}
	return nil
}

func otherModality(tree map[string]any) string {
	for _, in := range []string{"", "generationConfig", "generation_config"} {
		fields := tree
		if in != "" {
			fields, _ = tree[in].(map[string]any)
		}
		for _, name := range []string{"modalities", "responseModalities", "response_modalities"} {
			wanted, is := fields[name].([]any)
			if !is && fields[name] != nil || slices.ContainsFunc(wanted, func(v any) bool { return !strings.EqualFold(text(v), "text") }) {
				return name
			}
		}
	}
	return ""
}

// reference reports whether an item of the input stands for a stored one. It need not have a type.
func reference(item any) bool {
	fields, _ := item.(map[string]any)
	message := text(fields["role"]) != "" && fields["content"] != nil
	return text(fields["type"]) == "" && fields["id"] != nil && !message
}

func isObject(value any) bool { _, is := value.(map[string]any); return is }

func isEmpty(value any) bool {
	list, is := value.([]any)
	return is && len(list) == 0
}

// walk skips what the model or a tool has said: no server obeys it.
func (j *bodyJudge) walk(value any) *Refusal {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if no := j.walk(item); no != nil {
				return no
			}
		}
	case map[string]any:
		for field, inner := range value {
			if no := j.field(value, field, inner); no != nil {
				return no
			}
		}
	}
	return nil
}

var calls = set("tool_use", "server_tool_use", "mcp_tool_use")

func text(v any) string { s, _ := v.(string); return s }

func (j *bodyJudge) field(of map[string]any, name string, value any) *Refusal {
	no := spelled(name, j.read)
	defer func(within bool) { j.within = within }(j.within)
	switch {
	case no != nil:
		return no
	case j.grammar.opaque[name] || name == "input" && calls[text(of["type"])]:
		return nil
	case name == "tools":
		no = j.tools(value)
	case name == "definition" && isObject(value): // of a tool, in Anthropic's messages
		no = j.tools([]any{value})
	case name == "model" && text(value) != "":
		no = j.model(text(value)) // a helper within the request, an adviser, a fallback
	case !j.open && (j.fetched(name, value) || j.leads(of, name, value)):
		no = &Refusal{What: strings.Trim(quoted(name), `"`), Why: remote}
	case files[name] && value != nil && !isEmpty(value):
		no = &Refusal{What: name, Why: stored}
	case name == "type" && text(value) == "item_reference":
		no = &Refusal{What: text(value), Why: stored}
	case name == "ttl" && text(value) == "1h":
		j.hour = true
	case j.grammar.media[name]:
		if j.media.add(name, value) {
			no = &Refusal{What: name, Why: "sound costs more than the model's price"}
		}
	}
	if no != nil && !j.open {
		return no
	}
	return j.walk(value)
}

// spelled refuses another spelling of a judged field: some servers accept it.
func spelled(name string, judged []string) *Refusal {
	for _, known := range judged {
		if name != known && strings.EqualFold(name, known) {
			return &Refusal{What: "field " + quoted(name), Why: "some servers read it as " + known}
		}
	}
	return nil
}

// tools refuses each tool that is not known to run where the agent does.
func (j *bodyJudge) tools(value any) *Refusal {
	list, is := value.([]any)
	if !is && value != nil {
		return &Refusal{What: "tools", Why: "they are not a list"}
	}
	for _, item := range list {
		tool, is := item.(map[string]any)
		if !is {
			return &Refusal{What: "tools", Why: "one of them is no object"}
		}
		for _, kind := range j.grammar.kind(tool) {
			if !j.grammar.local(kind) {
				return &Refusal{What: "tool " + quoted(kind), Why: "it runs at the model server, outside the allow list"}
			}
		}
	}
	return nil
}
