package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
)

// maxAmount is the most that counts and dollars are taken seriously for: what is
// more was meant to be no limit, and 0 says that.
const maxAmount = 1e9

// valueOr is what read makes of a value, if there is one.
func valueOr[T any](s pathNode, otherwise T, read func(pathNode) T) T {
	if s.Kind == jsontree.None {
		return otherwise
	}
	return read(s)
}

// pointerTo is given for what has no default.
func pointerTo[T any](s pathNode, read func(pathNode) T) *T {
	if s.Kind == jsontree.None {
		return nil
	}
	value := read(s)
	return &value
}

func (d *decoder) flag(s pathNode) bool {
	if s.Kind != jsontree.Bool {
		d.report(s, "found %s, want true or false", s.node)
	}
	return s.Text == "true"
}

func (d *decoder) anyText(s pathNode) string {
	switch {
	case s.Kind != jsontree.Text:
		d.report(s, "found %s, want a string", s.node)
	case strings.ContainsRune(s.Text, 0): // no program can be given one
		d.report(s, "found a NUL in it, want text")
	}
	return s.Text
}

func (d *decoder) text(s pathNode) string {
	if s.Kind == jsontree.Text && blank(s.Text) {
		d.report(s, "found %s, want some text", s.node)
	}
	return d.anyText(s)
}

// integer reads whole numbers; 1e3 and 10.0 are some.
func (d *decoder) integer(low, high float64) func(pathNode) int {
	return func(s pathNode) int {
		n, err := strconv.ParseFloat(s.Text, 64)
		if s.Kind != jsontree.Number || err != nil || n != math.Trunc(n) || n < low || n > high {
			d.report(s, "found %s, want a whole number from %.0f to %.0f", s.node, low, high)
			return 0
		}
		return int(n)
	}
}

func (d *decoder) money(s pathNode) float64 {
	usd, err := strconv.ParseFloat(s.Text, 64)
	if s.Kind != jsontree.Number || err != nil || !(usd >= 0 && usd <= maxAmount) {
		d.report(s, "found %s, want dollars from 0 to %.0f", s.node, maxAmount)
		return 0
	}
	return max(usd, 0) // of the two zeros the one that has no sign
}

// durationForm is narrower than policy.ParseDuration, which takes "inf" and
// "0x1p4" for numbers too. The schema holds the same expression.
var durationForm = pattern.Of(
	`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)d?|(([0-9]+(\.[0-9]*)?|\.[0-9]+)d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`)

// maxSeconds is about as long as a time.Duration can be.
const maxSeconds = 9e9

func (d *decoder) duration(s pathNode) policy.Duration {
	parsed, err := policy.ParseDuration(s.Text)
	seconds, notBare := strconv.ParseFloat(s.Text, 64)
	formed := s.Kind == jsontree.Number || s.Kind == jsontree.Text && durationForm.MatchString(s.Text)
	if !formed || err != nil || notBare == nil && seconds > maxSeconds {
		d.report(s, `found %s, want seconds (90) or units ("1h30m"), at least 0`, s.node)
		return 0
	}
	return parsed
}

func (d *decoder) oneOf(s pathNode, words []string) string {
	if s.Kind == jsontree.Text && slices.Contains(words, s.Text) {
		return s.Text
	}
	if near, ok := plan.Nearest(s.Text, words); ok && s.Text != "" {
		d.report(s, "found %s, did you mean %q?", s.node, near)
	} else {
		d.report(s, "found %s, want %s", s.node, oneOfWords(words))
	}
	return ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Marshal writes the settings as a file that reads back the same: indented,
// with the defaults that are in force.
func (s Settings) Marshal() ([]byte, error) {
	s.Agent.Flags = append([]string{}, s.Agent.Flags...)
	s.Guardrails = append([]Guardrail{}, s.Guardrails...)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("write settings: %w", err)
	}
	return out.Bytes(), nil
}

// Show is Marshal for people to see. Hidden are the secrets that hide knows,
// whatever it takes for a token, the value of a flag or variable whose name
// ends in key, token, secret, password or credentials, and a password in a URL.
func (s Settings) Show(hide *redact.Redactor) (string, error) {
	s.Agent.Command = mask(s.Agent.Command)
	s.Agent.Flags = maskFlags(s.Agent.Flags)
	s.Setup, s.CheckEnv = maskLines(s.Setup), maskLines(s.CheckEnv)
	s.Guardrails = slices.Clone(s.Guardrails)
	for i, g := range s.Guardrails {
		s.Guardrails[i].Command, s.Guardrails[i].Hint = mask(g.Command), mask(g.Hint)
	}
	if s.SCM != nil {
		s.SCM = &SCM{Command: mask(s.SCM.Command), Tasks: maskLines(s.SCM.Tasks)}
	}
	text, err := s.Marshal()
	return hide.String(string(text)), err
}

// MaskWords is a command line with its secrets hidden as settings hide theirs.
func MaskWords(argv []string, hide *redact.Redactor) []string {
	shown := maskFlags(argv)
	for i, word := range shown {
		shown[i] = hide.String(word)
	}
	return shown
}

const (
	secretName  = `[\w.-]*(?:key|token|secret|password|passwd|credentials?)`
	secretValue = `(?:'[^']*'|"[^"]*"|[^\s'"]+)`
)

var (
	secretAssignment = pattern.Of(`(?i)(` + secretName + `(?:=|:\s+))` + secretValue)
	secretFlagValue  = pattern.Of(`(?i)((?:^|[\s"'])--?` + secretName + `\s+)` + secretValue)
	urlPassword      = pattern.Of(`(://[^\s/:@]*:)[^\s/@]+@`)
	secretFlag       = pattern.Of(`(?i)^--?` + secretName + `$`)
)

// mask hides the values in a line of words that their names give away.
func mask(line string) string {
	line = secretAssignment.ReplaceAllString(line, "${1}"+redact.Mask)
	line = secretFlagValue.ReplaceAllString(line, "${1}"+redact.Mask)
	return urlPassword.ReplaceAllString(line, "${1}"+redact.Mask+"@")
}

func maskLines(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		lines[i] = mask(line)
	}
	return lines
}

// maskFlags is masked where a flag and its value may be two entries.
func maskFlags(flags []string) []string {
	out := maskLines(flags)
	for i := 1; i < len(flags); i++ {
		if secretFlag.MatchString(flags[i-1]) && !strings.HasPrefix(flags[i], "-") {
			out[i] = redact.Mask
		}
	}
	return out
}
