package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// maxArgument is the size of the longest argument that Linux accepts, with its final zero byte.
const maxArgument = 128 << 10

// amp adapts Amp, which prints what Claude Code does. It chooses models by itself: order.Model is a mode.
func amp(_ kind, words []string, o Options) (Adapter, error) {
	if o.Keys.ProviderAPIKey == "" {
		return Adapter{}, fault.Usage("no key for the agent amp, which would wait forever for a login",
			"set the input provider-api-key, or the variable AMP_API_KEY on your own machine", nil)
	}
	rules := flagRules{"-x": {}, "--execute": {}, "--stream-json": {}, "--dangerously-allow-all": {}}
	command, extra, notes := rules.split(words, o.Args)
	return Adapter{
		Version:      ask(command, "--version"),
		Notes:        notes,
		MissingLogin: "Invalid or missing API key",
		MaxPrompt:    maxArgument - 2, // for the final zero byte and a newline before it
		Argv: func(order Order) []string {
			prompt := order.Prompt
			if strings.HasPrefix(prompt, "-") { // not a flag
				prompt = "\n" + prompt
			}
			own := []string{"--stream-json", "--dangerously-allow-all"}
			return slices.Concat(command, own, modelFlags("--mode", nil, order), extra, []string{"-x", prompt})
		},
		Env:     func(Order) []string { return o.Keys.ampEnv() },
		Stdin:   func(Order) string { return "" },
		Decoder: func(Order) Decoder { return decoderOf(newClaudeDecoder(nil, "")) },
	}, nil
}
