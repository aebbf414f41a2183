package agent

import "strings"

// Maker is whom an agent would ask, by the API that is spoken there: anthropic,
// openai or gemini.
type Maker struct {
	API    string
	Base   string // as the user gave it; empty: the maker's own
	Key    string
	Bearer bool // Key is a token of a login
}

// Makers are those whom that agent would ask with k. It is false where there is
// a key for one that the agent cannot be pointed away from: nobody but itself
// can hold that. There is none where it goes by a login of its own.
func (k Keys) Makers(name, model string) (makers []Maker, can bool) {
	switch name {
	case "claude", "command":
		return k.anthropic(), true
	case "codex":
		return k.maker("openai", k.OpenAIAPIKey), true
	case "gemini":
		return k.maker("gemini", k.GeminiAPIKey), true
	case "opencode":
		return k.opencodeMakers(model)
	case "copilot":
		api := k.CopilotProviderType
		if api == "" {
			api = "openai"
		}
		known := api == "openai" || api == "anthropic"
		return k.maker(api, k.CopilotProviderAPIKey), known || k.CopilotProviderAPIKey == ""
	case "amp":
		return nil, k.AmpAPIKey == ""
	}
	return nil, true
}

func (k Keys) anthropic() []Maker {
	if k.AnthropicAPIKey == "" && k.ClaudeCodeOAuthToken != "" {
		return []Maker{{API: "anthropic", Base: k.ModelBaseURL, Key: k.ClaudeCodeOAuthToken, Bearer: true}}
	}
	makers := k.maker("anthropic", k.AnthropicAPIKey)
	for i := range makers {
		makers[i].Bearer = mantle(k.ModelBaseURL)
	}
	return makers
}

func (k Keys) maker(api, key string) []Maker {
	if key == "" {
		return nil
	}
	return []Maker{{API: api, Base: k.ModelBaseURL, Key: key}}
}

// opencodeMakers is the one of the model that was named: pointed elsewhere,
// opencode knows of no other.
func (k Keys) opencodeMakers(model string) ([]Maker, bool) {
	if k.AnthropicAPIKey == "" && k.OpenAIAPIKey == "" && k.GeminiAPIKey == "" {
		return nil, true
	}
	provider, _, named := strings.Cut(model, "/")
	switch {
	case named && provider == "anthropic" && k.AnthropicAPIKey != "":
		return k.maker("anthropic", k.AnthropicAPIKey), true
	case named && provider == "openai" && k.OpenAIAPIKey != "":
		return k.maker("openai", k.OpenAIAPIKey), true
	case named && provider == "google" && k.GeminiAPIKey != "":
		return k.maker("gemini", k.GeminiAPIKey), true
	}
	return nil, false
}

// Behind are the keys of an agent that asks a server of ours: that server's
// token in the place of each key that Makers told of, and no other key.
func (k Keys) Behind(makers []Maker, server, token string) Keys {
	inside := Keys{CopilotProviderType: k.CopilotProviderType, ModelBaseURL: server, Cloud: mantle(k.ModelBaseURL), Bounded: true}
	for _, maker := range makers {
		for _, key := range []struct{ ours, theirs *string }{
			{&k.AnthropicAPIKey, &inside.AnthropicAPIKey},
			{&k.ClaudeCodeOAuthToken, &inside.ClaudeCodeOAuthToken},
			{&k.OpenAIAPIKey, &inside.OpenAIAPIKey},
			{&k.GeminiAPIKey, &inside.GeminiAPIKey},
			{&k.CopilotProviderAPIKey, &inside.CopilotProviderAPIKey},
		} {
			if *key.ours == maker.Key {
				*key.theirs = token
			}
		}
	}
	return inside
}

// Any tells whether there is any key at all.
func (k Keys) Any() bool { return strings.Join(k.Secrets(), "") != "" }

// Confined is an environment for a home that is not the one it was made in:
// where the user keeps things does not hold there.
func Confined(env []string) []string {
	var kept []string
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		elsewhere := strings.HasSuffix(name, "_HOME") || strings.HasSuffix(name, "_DIR") || name == "OPENCODE_CONFIG"
		if !elsewhere {
			kept = append(kept, variable)
		}
	}
	return kept
}
