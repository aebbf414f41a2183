package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
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
	if last := len(words) - 1; last > 0 && (words[last] == "e" || words[last] == "exec") {
		words = words[:last]
	}
	before, notes := codexFlags(words[1:])
	extra, more := codexFlags(o.Args)
	flags := slices.Concat(before, extra)
	start := slices.Concat(words[:1], before, []string{"exec", "--json", codexUnbound}, provider)
	return Adapter{
		Name:    "codex",
		Program: words[0],
		Install: "install Codex (npm install -g @openai/codex)",
		Behind:  codexBehind,
		Notes:   slices.Compact(append(notes, more...)),
		Argv:    func(order Order) []string { return codexArgv(start, codexModel(flags, order), order, extra) },
		Env:     func(Order) []string { return o.Keys.codexEnv() },
		Decoder: func(order Order) Decoder {
			return &codexDecoder{price: codexPrice(codexModel(flags, order), o.Prices)}
		},
		Speaks: true,
	}, nil
}

// codexArgv names the model only where the user's flags do not, for Codex
// refuses two of them. The prompt follows on stdin, as "-" says: next to one
// in argv an open stdin would be waited for.
func codexArgv(start []string, model string, order Order, extra []string) []string {
	argv := slices.Clone(start)
	if model != "" && model == order.Model {
		argv = append(argv, "-m", model)
	}
	return append(append(argv, extra...), "-")
}

// codexFlags leaves out of a user's flags what is said anyway, for twice is
// refused, and what Codex dropped; of that it says what became of it.
func codexFlags(words []string) (flags, notes []string) {
	for _, word := range words {
		switch word {
		case "--json", codexUnbound, "--yolo":
		case "--full-auto":
			notes = append(notes, "codex has no --full-auto any more: "+codexUnbound+" stands in for it")
		default:
			flags = append(flags, word)
		}
	}
	return flags, notes
}

// codexModel is the model of the user's own flags, or else the order's.
func codexModel(flags []string, order Order) string {
	for i, flag := range flags {
		name, value, joined := strings.Cut(flag, "=")
		switch {
		case name != "-m" && name != "--model":
		case joined:
			return value
		case i+1 < len(flags):
			return flags[i+1]
		}
	}
	return order.Model
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
	return []string{"-c", "model_providers.ralph={" + table + "}", "-c", `model_provider="ralph"`}, nil
}

// codexPrice is what tokens of that model cost, for Codex does not say.
func codexPrice(model string, over map[string]price.Rate) func(stream.Usage) stream.Cost {
	return func(u stream.Usage) stream.Cost {
		usd, known := price.Of(model, price.Tokens(u), over)
		return stream.Cost{USD: usd, Known: known}
	}
}
