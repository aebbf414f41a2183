package trigger

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/shell"
)

// Flags are limits and a model that a comment asks for. Zero: not asked.
type Flags struct {
	Iterations int
	CostUSD    float64
	Run        policy.Duration
	Iteration  policy.Duration
	Stall      int
	Model      string
	Draft      bool
}

type flag struct {
	name  string
	wants string // describes its value; empty: it takes none
	set   func(*Flags, string) error
}

var flags = []flag{
	{"--max-iterations", "a whole number from 1 up", func(f *Flags, v string) error { return parseCount(&f.Iterations, v) }},
	{"--max-cost", "an amount of dollars above 0", func(f *Flags, v string) error { return parseDollars(&f.CostUSD, v) }},
	{"--max-time", "a duration such as 30m", func(f *Flags, v string) error { return parseDuration(&f.Run, v) }},
	{"--iteration-timeout", "a duration such as 30m", func(f *Flags, v string) error { return parseDuration(&f.Iteration, v) }},
	{"--stall-after", "a whole number from 1 up", func(f *Flags, v string) error { return parseCount(&f.Stall, v) }},
	{"--model", "a model's name", func(f *Flags, v string) error { return parseModel(&f.Model, v) }},
	{"--draft", "", func(f *Flags, _ string) error { f.Draft = true; return nil }},
}

// workflowFlags would change the sandbox, the commands, the proof or who may start work.
var workflowFlags = strings.Fields("--sandbox --no-sandbox --allow-domains --setup-domains --private-hosts --https-proxy --ca-bundle --allow-models --model-base-url " +
	"--check --checks --check-timeout --setup --agent --agent-command --agent-args " +
	"--proof --baseline --tamper --protect --protected-changes --review-agent --review-model --allow-users --allow-bots --assignee --label")

// isFlag reports whether word looks like a flag. Phones turn two hyphens into one dash.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' || strings.HasPrefix(word, "—") || strings.HasPrefix(word, "–")
}

// readFlag returns the rest of the line, or the answer to a wrong flag.
func (f *Flags) readFlag(line string) (rest string, wrong *Command) {
	word, rest := cutWord(line)
	name, value, given := strings.Cut(word, "=")
	at := slices.IndexFunc(flags, func(one flag) bool { return one.name == strings.ToLower(name) })
	if at < 0 {
		return "", unknownFlag(name)
	}
	one := flags[at]
	switch {
	case one.wants == "" && given:
		return "", flagRefusal(one.name, "it takes no value")
	case one.wants == "":
		return rest, f.setFlag(one, "")
	case given && value != "": // a quoted value may hold spaces
		_, tail, _ := strings.Cut(line, "=")
		value, rest = cutValue(tail)
	case given:
	default:
		value, rest = cutValue(rest)
	}
	return rest, f.setFlag(one, value)
}

func (f *Flags) setFlag(one flag, value string) *Command {
	if err := one.set(f, value); err != nil {
		return flagRefusal(one.name, "it needs "+one.wants)
	}
	return nil
}

func flagRefusal(said, why string) *Command {
	wrong := RefusedCommand(said, why)
	return &wrong
}

func unknownFlag(said string) *Command {
	plain := "--" + strings.TrimLeft(strings.ToLower(said), "-—–")
	if slices.Contains(workflowFlags, plain) {
		return flagRefusal(said, "the workflow sets it, where a review sees a change")
	}
	var names []string
	for _, one := range flags {
		names = append(names, one.name)
	}
	wrong := Command{Verb: Help, Said: said, Nearest: "--"}
	if plain != "--" {
		wrong.Nearest, _ = jsontree.Nearest(plain, names)
	}
	return &wrong
}

// cutValue cuts the first word of line, which may be quoted as in a shell, or with a
// phone's typographic quotes. A dollar sign stands for dollars. Wrong quoting makes the
// value empty.
func cutValue(line string) (value, rest string) {
	value, rest = cutWord(line)
	if m := curlyQuoted.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
		return m[1], strings.TrimSpace(m[2])
	}
	if !strings.ContainsAny(value, `'"\`) {
		return value, rest
	}
	value, rest, err := shell.First(line)
	if err != nil {
		return "", ""
	}
	return value, rest
}

var curlyQuoted = pattern.Of(`^[“”„‘’‚]([^“”„‘’‚]*)[“”‘’](\s.*|)$`)

var errValue = errors.New("no such value")

func parseCount(to *int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return errValue
	}
	*to = n
	return nil
}

func parseDollars(to *float64, value string) error {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
	if err != nil || !(usd > 0 && usd < 1e9) {
		return errValue
	}
	*to = usd
	return nil
}

func parseDuration(to *policy.Duration, value string) error {
	d, err := policy.ParseDuration(value)
	if err != nil || d == 0 {
		return errValue
	}
	*to = d
	return nil
}

// modelName restricts models' names: they become arguments of a command.
var modelName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$`)

func parseModel(to *string, value string) error {
	if !modelName.MatchString(value) {
		return errValue
	}
	*to = value
	return nil
}
