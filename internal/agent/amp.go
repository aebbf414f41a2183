package agent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

// maxArgument is what Linux takes as one argument, its final zero included.
const maxArgument = 128 << 10

func amp(words []string, o Options) (Adapter, error) {
	if o.Keys.AmpAPIKey == "" {
		return Adapter{}, fault.Usage("no key for the agent amp, which would wait forever for a login",
			"set the input provider-api-key, or the variable AMP_API_KEY on your own machine", nil)
	}
	command, extra, notes := ampRules.split(words, o.Args)
	if o.Keys.ModelBaseURL != "" {
		notes = append(notes, "amp uses its own server only: the base URL of a model server is ignored")
	}
	return Adapter{
		Install:      "install Amp",
		Package:      "@ampcode/cli",
		Version:      ask(command, "--version"),
		Tested:       "0.0.1790142911-g7618fb",
		Notes:        notes,
		Login:        "set AMP_API_KEY to a valid key, as your settings on ampcode.com show it",
		MissingLogin: missingLoginIf("Invalid or missing API key"),
		State:        ampKeeps,
		Hosts:        []string{"ampcode.com"},
		Argv:         func(order Order) []string { return ampArgv(command, order, extra) },
		Env:          func(Order) []string { return o.Keys.ampEnv() },
		Stdin:        ampStdin,
		Decoder:      func(Order) Decoder { return decoderOf(&ampDecoder{}) },
		Reporting:    ReportsTokens,
	}, nil
}

var ampRules = flagRules{
	"-x": {}, "--execute": {}, "--stream-json": {}, "--dangerously-allow-all": {},
}

// ampArgv ends in -x and the prompt. Amp chooses models itself: it accepts only a mode.
func ampArgv(words []string, order Order, extra []string) []string {
	argv := append(slices.Clone(words), "--stream-json", "--dangerously-allow-all")
	if order.Model != "" {
		argv = append(argv, "--mode", order.Model)
	}
	argv = append(append(argv, extra...), "-x")
	if ampInArgv(order.Prompt) {
		argv = append(argv, order.Prompt)
	}
	return argv
}

// A prompt that begins with a dash would be a flag.
func ampInArgv(prompt string) bool {
	return prompt != "" && prompt[0] != '-' && len(prompt) < maxArgument && !strings.ContainsRune(prompt, 0)
}

// ampStdin is empty beside a prompt in argv: Amp would join the two.
func ampStdin(order Order) string {
	if ampInArgv(order.Prompt) {
		return ""
	}
	return order.Prompt
}

type ampLine struct {
	claudeLine
	Session string `json:"session_id"`
}

// ampDecoder differs from Claude Code's in usage, whose messages have no id, and in errors.
type ampDecoder struct {
	like  claudeDecoder
	spent stream.Usage
}

func (d *ampDecoder) unfinished() []stream.Item { return noResult(d.spent) }

func (d *ampDecoder) read(l ampLine) []stream.Item {
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			return []stream.Item{stream.Progress{Text: "thread " + Short(l.Session)}}
		}
	case "assistant":
		return append(d.like.assistant(l.claudeLine), d.meter(l.Message.Usage.claudeUsage)...)
	case "user":
		return d.like.user(l.Message.Content)
	case "result":
		return []stream.Item{d.result(l.claudeLine)}
	}
	return nil
}

func (d *ampDecoder) meter(u claudeUsage) []stream.Item {
	if u == (claudeUsage{}) {
		return nil
	}
	d.spent = d.spent.Plus(ampUsage(u))
	return []stream.Item{stream.Spent{Usage: d.spent}}
}

func (d *ampDecoder) result(l claudeLine) stream.Result {
	result := l.result()
	result.Failed = result.Failed || strings.HasPrefix(l.Subtype, "error")
	result.Text = cmp.Or(result.Text, l.Error)
	if result.Usage = ampUsage(l.Usage); result.Usage == (stream.Usage{}) {
		result.Usage = d.spent // not every version sums up
	}
	return result
}

// ampUsage subtracts the cached tokens from Amp's input, which includes them.
func ampUsage(u claudeUsage) stream.Usage {
	if fresh := u.Input - u.CacheRead - u.CacheWrite; fresh >= 0 {
		u.Input = fresh
	}
	return u.plain()
}

var ampKeeps = State{
	Folders: map[string][]string{
		".config/amp":      nil,
		".local/share/amp": {"secrets.json", "session.json", "history.jsonl", "threads"},
		".cache/amp":       {"logs"},
	},
}
