package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

const codexUnbound = "--dangerously-bypass-approvals-and-sandbox"

// codex is Codex, as version 0.169 behaves.
func codex(o Options) (Adapter, error) {
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 {
		words = []string{"codex"}
	}
	if o.NeedKey && o.Keys.OpenAIAPIKey == "" {
		return Adapter{}, fault.Usage("no key for the agent codex", "set the input openai-api-key", nil)
	}
	provider, err := codexProvider(o.Keys)
	if err != nil {
		return Adapter{}, err
	}
	command, extra, notes := codexRules.split(subcommand(words, "e", "exec"), o.Args)
	flags := slices.Concat(command[1:], extra)
	bounds := []string{codexUnbound}
	if o.Reads && !o.Keys.Bounded { // within our wall its own could not be raised
		bounds = []string{"--sandbox", "read-only", "--skip-git-repo-check"} // which the other implies
	}
	start := slices.Concat(command, []string{"exec", "--json"}, bounds, provider)
	return Adapter{
		Name:    "codex",
		Program: words[0],
		Install: "install Codex",
		Package: "@openai/codex",
		Behind:  codexBehind,
		Login:   o.login("input openai-api-key", "log in with `codex login`, or set CODEX_API_KEY to a valid key"),
		Status:  asking(command, "doctor", "--json"),
		Unready: codexUnready,
		Vars:    []string{"CODEX_HOME"},
		State:   []string{".codex"},
		Settled: Settled{Paths: within(".codex", "config.toml", "hooks.json", "hooks", "AGENTS.md", "AGENTS.override.md", "prompts", "rules")},
		Hosts:   []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
		Version: append(slices.Clone(command), "--version"),
		Tested:  "0.169.0",
		Notes:   notes,
		Argv: func(order Order) []string {
			return slices.Concat(start, modelFlags("-m", flags, order), extra, []string{"-"})
		},
		Env: func(Order) []string { return o.Keys.codexEnv() },
		Decoder: func(order Order) Decoder {
			model := modelOf(flags, order)
			return &codexDecoder{price: o.Prices, model: model, wrote: &rollouts{dir: codexSessions(order.Env), price: o.Prices, model: model}}
		},
		Speaks:  true,
		Reports: ReportsCost,
	}, nil
}

// codexUnready reads the answer of codex doctor, which looks at the provider that
// is configured, too.
func codexUnready(_ int, printed []byte) string {
	var report struct {
		Checks map[string]struct {
			Status  string `json:"status"`
			Summary string `json:"summary"`
		} `json:"checks"`
	}
	if json.Unmarshal(printed, &report) != nil {
		return ""
	}
	if auth := report.Checks["auth.credentials"]; auth.Status == "fail" {
		return auth.Summary
	}
	return ""
}

// codexRules leave out what is said anyway, for twice is refused, and what
// Codex dropped. The prompt follows on stdin, as a last "-" says: next to one
// in argv an open stdin would be waited for.
var codexRules = flagRules{
	"--json":      {},
	codexUnbound:  {},
	"--yolo":      {},
	"--full-auto": {note: "codex has no --full-auto any more: " + codexUnbound + " stands in for it"},
}

// codexProvider points Codex at another model server. It is a provider of our
// own, for the built-in one loses six seconds on WebSockets, which a proxy
// refuses. What is in argv everybody can read: the key stays in the environment.
func codexProvider(keys Keys) ([]string, error) {
	if keys.ModelBaseURL == "" {
		return nil, nil
	}
	base, err := url.Parse(keys.ModelBaseURL)
	if err != nil || base.Host == "" || base.User != nil {
		return nil, fault.Usage("the agent codex cannot be pointed at its model server",
			"give model-base-url (or OPENAI_BASE_URL) as https://host/v1, without a name or password", nil)
	}
	if strings.Trim(base.Path, "/") == "" {
		base = base.JoinPath("v1") // where such servers answer
	}
	quoted, err := json.Marshal(base.String()) // as TOML quotes, too
	if err != nil {
		return nil, err
	}
	table := fmt.Sprintf(`name="ralph",base_url=%s,wire_api="responses",supports_websockets=false`, quoted)
	if keys.OpenAIAPIKey != "" {
		table += `,env_key="CODEX_API_KEY"` // refused where the variable is missing
	}
	flags := []string{"-c", "model_providers.ralph={" + table + "}", "-c", `model_provider="ralph"`}
	if keys.Bounded { // with most models it offers a search by the maker in every request, and every one would be refused
		flags = append(flags, "-c", `web_search="disabled"`)
	}
	return flags, nil
}
