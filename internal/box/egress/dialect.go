package egress

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/redact"
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

	// Models are the allowed models: names, or patterns like "claude-haiku-*". An empty list allows all.
	Models []string

	Token redact.Secret // of the agent that may use it; empty: any token is accepted
}

type grammar struct {
	base   string
	folder string // of its API; a Base may include it
	paths  []endpoint

	tools []string // kinds of tools that run in the agent's sandbox; a pattern ends in *
	kinds func(tool map[string]any) []string

	sign    func(http.Header, Maker)
	refusal func(why string) any
}

type endpoint struct {
	path  *pattern.Pattern // the first group is the model
	query string           // each request gets it: usage is read from events
	may   string           // optional query
	free  bool             // requests cost nothing
}

var grammars = map[Dialect]*grammar{
	Anthropic: {
		base: "https://api.anthropic.com", folder: "/v1",
		paths: []endpoint{
			{path: pattern.Of("^/messages$"), may: "beta=true"},
			{path: pattern.Of("^/messages/count_tokens$"), may: "beta=true", free: true},
		},
		tools: []string{
			"custom", "function", "bash_2*", "text_editor_2*", "memory_2*", "tool_definition", "tool_reference",
		},
		kinds: kindByType("custom"),
		sign: func(h http.Header, m Maker) {
			if m.Bearer {
				h.Set("Authorization", "Bearer "+string(m.Key))
				return
			}
			h.Set("X-Api-Key", string(m.Key))
		},
		refusal: func(why string) any {
			return map[string]any{"type": "error", "error": map[string]any{
				"type": "permission_error", "message": why,
			}}
		},
	},
	OpenAI: {
		base: "https://api.openai.com", folder: "/v1",
		paths: []endpoint{
			{path: pattern.Of("^/responses$")},
			{path: pattern.Of("^/responses/compact$")},
			{path: pattern.Of("^/chat/completions$")},
		},
		tools: []string{"custom", "function", "namespace", "local_shell", "apply_patch", "tool_search by the client"},
		kinds: kindByType("function"),
		sign:  func(h http.Header, m Maker) { h.Set("Authorization", "Bearer "+string(m.Key)) },
		refusal: func(why string) any {
			return map[string]any{"error": map[string]any{
				"message": why, "type": "permission_error", "param": nil, "code": "refused_by_ralph",
			}}
		},
	},
	Gemini: {
		base: "https://generativelanguage.googleapis.com", folder: "/v1beta",
		paths: []endpoint{
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):generateContent$")},
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):streamGenerateContent$"), query: "alt=sse"},
			{path: pattern.Of("^/models/([A-Za-z0-9._-]+):countTokens$"), free: true},
		},
		tools: []string{"functionDeclarations", "function_declarations"},
		kinds: kindByFields,
		sign:  func(h http.Header, m Maker) { h.Set("X-Goog-Api-Key", string(m.Key)) },
		refusal: func(why string) any {
			return map[string]any{"error": map[string]any{
				"code": http.StatusForbidden, "message": why, "status": "PERMISSION_DENIED",
			}}
		},
	},
}

func set(words ...string) map[string]bool {
	all := make(map[string]bool, len(words))
	for _, w := range words {
		all[w] = true
	}
	return all
}

func route(escaped string) (d Dialect, e endpoint, model string, found bool) {
	for d, g := range grammars {
		rest, ok := strings.CutPrefix(escaped, g.folder)
		if !ok {
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

// at returns the real server's URL of a path.
func (m Maker) at(escaped, query string) (*url.URL, error) {
	g := grammars[m.Dialect]
	base := m.Base
	if base == nil {
		var err error
		base, err = url.Parse(g.base)
		if err != nil {
			return nil, err
		}
	}
	rest := escaped
	basePath := strings.TrimSuffix(base.Path, "/")
	if strings.HasSuffix(basePath, g.folder) || (m.Dialect == OpenAI && basePath != "") {
		rest = strings.TrimPrefix(escaped, g.folder)
	}
	u := *base
	u.Path = basePath + rest
	u.RawPath = ""
	u.RawQuery = strings.Trim(base.RawQuery+"&"+query, "&")
	return &u, nil
}
