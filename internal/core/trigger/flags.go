package trigger

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Flags are the limits and the model in a comment. Zero values are not given.
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
	wants string // describes the value; empty: the flag has none
	set   func(f *Flags, value string) error
}

var flags = []flag{
	{"--max-iterations", "a whole number from 1 up", func(f *Flags, v string) error {
		return parse(&f.Iterations, v, strconv.Atoi)
	}},
	{"--max-cost", "an amount of dollars above 0", func(f *Flags, v string) error {
		return parse(&f.CostUSD, v, dollars)
	}},
	{"--max-time", "a duration such as 30m", func(f *Flags, v string) error {
		return parse(&f.Run, v, policy.ParseDuration)
	}},
	{"--iteration-timeout", "a duration such as 30m", func(f *Flags, v string) error {
		return parse(&f.Iteration, v, policy.ParseDuration)
	}},
	{"--stall-after", "a whole number from 1 up", func(f *Flags, v string) error {
		return parse(&f.Stall, v, strconv.Atoi)
	}},
	{"--model", "a model's name", func(f *Flags, v string) error {
		return parse(&f.Model, v, model)
	}},
	{"--draft", "", func(f *Flags, _ string) error {
		f.Draft = true
		return nil
	}},
}

func flagNames() []string {
	var names []string
	for _, flag := range flags {
		names = append(names, flag.name)
	}
	return names
}

// isFlag reports whether word looks like a flag. Phones turn two hyphens into one dash.
func isFlag(word string) bool {
	if strings.HasPrefix(word, "—") || strings.HasPrefix(word, "–") {
		return true
	}
	return len(word) > 1 && word[0] == '-'
}

// readFlag reads a flag, and returns the rest of the line, or the answer to a wrong flag.
func (f *Flags) readFlag(line string) (string, *Command) {
	word, rest := cutWord(line)
	name, value, given := strings.Cut(word, "=")
	at := slices.Index(flagNames(), strings.ToLower(name))
	if at < 0 {
		return "", unknownFlag(name)
	}
	flag := flags[at]
	switch {
	case flag.wants == "" && given:
		return "", &Command{Verb: Help, Said: flag.name, Why: "it takes no value"}
	case flag.wants != "" && !given:
		value, rest = cutWord(rest)
	}
	if err := flag.set(f, quoted.ReplaceAllString(value, "$1")); err != nil {
		return "", &Command{Verb: Help, Said: flag.name, Why: "it needs " + flag.wants}
	}
	return rest, nil
}

// unknownFlag returns the answer to an unknown flag, with a suggestion. Only the workflow can set options such as
// --sandbox.
func unknownFlag(name string) *Command {
	plain := "--" + strings.TrimLeft(strings.ToLower(name), "-—–")
	if plain == "--" {
		return &Command{Verb: Help, Said: name, Nearest: plain}
	}
	if near, found := jsontree.Nearest(plain, flagNames()); found {
		return &Command{Verb: Help, Said: name, Nearest: near}
	}
	return &Command{Verb: Help, Said: name, Why: "a comment has no such flag; other options are set in the workflow, " +
		"where changes are reviewed"}
}

// quoted is a value in quotes, also in the typographic ones of phones. No value has spaces.
var quoted = pattern.Of(`^["'“”„‘’‚](.*)["'“”‘’]$`)

// parse refuses values up to zero, which means that the flag is not given.
func parse[T cmp.Ordered](to *T, value string, read func(string) (T, error)) error {
	parsed, err := read(value)
	if err != nil {
		return err
	}
	var zero T
	if parsed <= zero {
		return errValue
	}
	*to = parsed
	return nil
}

var errValue = errors.New("invalid value")

func dollars(value string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(value, "$"), 64)
	if !(usd < 1e9) { // such as NaN
		return 0, errValue
	}
	return usd, err
}

// modelName restricts the names of models, which become arguments of a command.
var modelName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$`)

func model(value string) (string, error) { return modelName.FindString(value), nil }
