package egress

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/redact"
)

// Dialect is the API of a model's maker.
type Dialect string

// The dialects.
const (
	Anthropic Dialect = "anthropic"
	OpenAI    Dialect = "openai"
	Gemini    Dialect = "gemini"
)

// Maker is a model server and its credential.
type Maker struct {
	Dialect Dialect
	Base    *url.URL // the base URL that clients use; nil: the maker's own
	Key     redact.Secret
	Bearer  bool // Key is a login token, like Claude Code's; OpenAI always uses a bearer token

	// Models are the allowed models: names, or patterns like "claude-haiku-*". An
	// empty list allows all.
	Models []string

	Token redact.Secret // of the agent that may use it; empty: any token is accepted
}

type grammar struct {
	base   string
	folder string // of its API; a Base may include it
	paths  []endpoint

	fields   map[string]bool   // allowed top-level fields; others are removed
	closed   map[string]string // refused top-level fields, and why: the request makes no sense without them
	tools    map[string]bool   // kinds of tools that run in the agent's sandbox; a pattern ends in *
	kind     func(tool map[string]any) []string
	fetching map[string]bool // fields that can name a URL to fetch: in an object's url or, if true, directly
	media    map[string]bool // fields with media
	image    int64           // maximum tokens of an image
	unpriced map[string]bool // nested fields that choose what has another price
	opaque   map[string]bool // fields with words of the model or the agent, in any form
	stops    bool            // the maker stops an answer, and its bill, when the client hangs up

	sign    func(http.Header, Maker)
	refusal func(why string) any
}

type endpoint struct {
	path  *pattern.Pattern // the first group is the model
	query string           // required query
	may   string           // optional query
	free  bool             // requests cost nothing
	whole bool             // answers are never streams
	keeps bool             // the maker stores answers unless store is false
	// makerOnly: store is sent only to the maker's own server. Others may not know it.
	makerOnly bool
}

var grammars = map[Dialect]*grammar{
	Anthropic: {
		base: "https://api.anthropic.com", folder: "/v1", stops: true,
		paths: []endpoint{
			{path: pattern.Of("^/messages$"), may: "beta=true"},
			{path: pattern.Of("^/messages/count_tokens$"), may: "beta=true", free: true},
		},
		fields: set("model", "messages", "max_tokens", "system", "stream", "tools", "tool_choice", "thinking", "output_config", "output_format",
			"context_management", "cache_control", "metadata", "stop_sequences", "temperature", "top_k", "top_p", "service_tier", "speed", "inference_geo"),
		closed:   map[string]string{"mcp_servers": remote, "container": remote},
		tools:    set("custom", "function", "bash_2*", "text_editor_2*", "memory_2*"),
		kind:     kindByType("custom"),
		fetching: map[string]bool{"source": false},
		media:    set("source"),
		image:    10_000, // larger images are scaled down
		opaque:   set("input_schema", "input_examples", "schema", "metadata"),
		sign: func(h http.Header, m Maker) {
			if m.Bearer {
				h.Set("Authorization", "Bearer "+string(m.Key))
				return
			}
			h.Set("X-Api-Key", string(m.Key))
		},
		refusal: func(why string) any {
			return map[string]any{"type": "error", "error": map[string]any{"type": "permission_error", "message": why}}
		},
	},
	OpenAI: {
		base: "https://api.openai.com", folder: "/v1", stops: true,
		paths: []endpoint{
			{path: pattern.Of("^/responses$"), keeps: true}, {path: pattern.Of("^/responses/compact$"), whole: true}, {path: pattern.Of("^/chat/completions$"), keeps: true, makerOnly: true},
		},
		fields: set("model", "instructions", "input", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "max_tool_calls",
			"functions", "function_call", "max_output_tokens", "max_tokens", "max_completion_tokens", "n", "reasoning", "reasoning_effort", "text",
			"verbosity", "response_format", "include", "truncation", "metadata", "client_metadata", "user", "safety_identifier", "prompt_cache_key",
			"prompt_cache_retention", "service_tier", "store", "temperature", "top_p", "top_logprobs", "logprobs", "logit_bias", "frequency_penalty",
			"presence_penalty", "seed", "stop",
			// Fields of other servers that speak this dialect.
			"top_k", "min_p", "repetition_penalty", "thinking", "enable_thinking", "chat_template_kwargs"),
		closed: map[string]string{
			"background": "its usage could not be counted", "prompt": stored, "conversation": stored, "previous_response_id": stored, "web_search_options": remote,
		},
		tools:    set("custom", "function", "namespace", "local_shell", "apply_patch", "tool_search by the client"),
		kind:     kindByType("function"),
		fetching: set("image_url", "file_url"),
		media:    set("image_url", "file_data", "input_audio"),
		image:    75_000, // with detail "original", 35,532 for 6700×4500 pixels
		opaque:   set("parameters", "schema", "metadata", "client_metadata", "env"),
		sign:     func(h http.Header, m Maker) { h.Set("Authorization", "Bearer "+string(m.Key)) },
		refusal: func(why string) any {
			return map[string]any{"error": map[string]any{"message": why, "type": "permission_error", "param": nil, "code": "refused_by_ralph"}}
		},
	},
	Gemini: {
		base: "https://generativelanguage.googleapis.com", folder: "/v1beta",
		paths: []endpoint{
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):generateContent$")},
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):streamGenerateContent$"), query: "alt=sse"},
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):countTokens$"), free: true},
		},
		fields: set("model", "contents", "tools", "toolConfig", "tool_config", "systemInstruction", "system_instruction", "generationConfig",
			"generation_config", "safetySettings", "safety_settings", "serviceTier", "service_tier", "generateContentRequest", "generate_content_request",
			"cachedContent", "cached_content"),
		tools:    set("functionDeclarations", "function_declarations"),
		kind:     func(tool map[string]any) []string { return slices.Collect(maps.Keys(tool)) },
		fetching: set("fileUri", "file_uri"),
		media:    set("inlineData", "inline_data"),
		image:    75_000,
		unpriced: set("responseFormat", "response_format", "routingConfig", "routing_config"),
		opaque:   set("functionDeclarations", "function_declarations", "args", "response", "responseSchema", "response_schema", "responseJsonSchema"),
		sign:     func(h http.Header, m Maker) { h.Set("X-Goog-Api-Key", string(m.Key)) },
		refusal: func(why string) any {
			return map[string]any{"error": map[string]any{"code": http.StatusForbidden, "message": why, "status": "PERMISSION_DENIED"}}
		},
	},
}

const (
	remote = "the maker would fetch it: ralph can limit neither its hosts nor its cost"
	stored = "what is stored at the maker cannot be inspected"
)

// refusedAnywhere are the fields that are refused in any object.
var refusedAnywhere = map[string]string{
	"file_id": stored, "file_ids": stored, "vector_store_ids": stored,
	"cachedContent": stored, "cached_content": stored, "continuationToken": stored, "continuation_token": stored,
	"enforce_validation": remote, // LiteLLM then fetches the addresses in a schema
}

func set(words ...string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

func kindByType(usual string) func(map[string]any) []string {
	return func(tool map[string]any) []string {
		kinds := []string{"unreadable"}
		switch kind := tool["type"].(type) {
		case string:
			kinds[0] = kind
		case nil:
			kinds[0] = usual
		}
		if tool["execution"] == "client" { // OpenAI's search for tools runs at the maker unless this is set
			kinds[0] += " by the client"
		}
		for name, value := range tool {
			if isObject(value) && !toolFields[name] { // gateways take {"urlContext": {}} for Gemini's tool
				kinds = append(kinds, name)
			}
		}
		function, _ := tool["function"].(map[string]any)
		for _, name := range []string{text(tool["name"]), text(function["name"])} {
			if gatewayTools[name] {
				kinds = append(kinds, name)
			}
		}
		return kinds
	}
}

// gatewayTools are the names of functions that gateways such as new-api take for Gemini's own tools.
var gatewayTools = set("googleSearch", "google_search", "urlContext", "url_context", "codeExecution", "code_execution")

var toolFields = set("function", "custom", "parameters", "format", "input_schema", "output_schema", "cache_control")

// limitFields are the nested fields that limit or count an answer.
var limitFields = []string{"include_usage", "maxOutputTokens", "max_output_tokens", "candidateCount", "candidate_count", "responseModalities", "response_modalities"}

// topFields returns the judged top-level fields, and judgedFields those at any level.
func (g *grammar) topFields() []string {
	return slices.Concat(tiers, []string{"modalities"}, slices.Collect(maps.Keys(g.fields)), slices.Collect(maps.Keys(g.closed)))
}

func (g *grammar) judgedFields() []string {
	return slices.Concat([]string{"model", "tools", "function", "functions", "name", "tool", "definition", "type", "execution", "edits"}, limitFields, slices.Collect(maps.Keys(g.unpriced)), slices.Collect(maps.Keys(refusedAnywhere)), slices.Collect(maps.Keys(g.fetching)), slices.Collect(maps.Keys(g.media)))
}

func (g *grammar) isLocalTool(kind string) bool {
	if g.tools[kind] {
		return true
	}
	for pattern := range g.tools {
		if start, open := strings.CutSuffix(pattern, "*"); open && strings.HasPrefix(kind, start) {
			return true
		}
	}
	return false
}

func route(escaped string) (d Dialect, e endpoint, model string, found bool) {
	for d, g := range grammars {
		rest, in := strings.CutPrefix(escaped, g.folder)
		if !in {
			continue
		}
		for _, p := range g.paths {
			if m := p.path.FindStringSubmatch(rest); m != nil {
				return d, p, strings.Join(m[1:], ""), true
			}
		}
	}
	return "", endpoint{}, "", false
}

// refusalBody returns a refusal in a dialect (default: Anthropic's).
func refusalBody(d Dialect, why string) []byte {
	g := grammars[cmp.Or(d, Anthropic)]
	body, err := json.Marshal(g.refusal("ralph: " + why))
	if err != nil {
		panic("egress: " + err.Error()) // a map of words is always JSON
	}
	return body
}

// isOwn reports whether the server is the maker's own, not a cloud, a gateway or a user's.
func (m Maker) isOwn() bool {
	return m.Base == nil || strings.EqualFold("https://"+m.Base.Hostname(), grammars[m.Dialect].base)
}

// at returns the real server's URL of a path.
func (m Maker) at(escaped, query string) (*url.URL, error) {
	g := grammars[m.Dialect]
	base := m.Base
	if base == nil {
		var err error
		if base, err = url.Parse(g.base); err != nil {
			return nil, err
		}
	}
	rest := escaped
	named := strings.TrimSuffix(base.Path, "/")
	if strings.HasSuffix(named, g.folder) || m.Dialect == OpenAI && named != "" {
		rest = strings.TrimPrefix(escaped, g.folder)
	}
	u := *base
	u.Path, u.RawPath = named+rest, ""
	u.RawQuery = strings.Trim(base.RawQuery+"&"+query, "&")
	return &u, nil
}
