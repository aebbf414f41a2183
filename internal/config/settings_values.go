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
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
)

// maxAmount: larger values are meant as no limit, which is 0.
const maxAmount = 1e9

func valueOr[T any](s pathNode, otherwise T, read func(pathNode) T) T {
	if s.Kind == jsontree.None {
		return otherwise
	}
	return read(s)
}

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
	case strings.ContainsRune(s.Text, 0): // arguments cannot have one
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

// integer reads whole numbers, such as 1e3 and 10.0.
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
	return max(usd, 0) // no negative zero
}

// durationForm is stricter than policy.ParseDuration, which accepts "inf" and
// "0x1p4". The schema has the same expression.
var durationForm = pattern.Of(
	`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)d?|(([0-9]+(\.[0-9]*)?|\.[0-9]+)d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`)

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
	if near, ok := jsontree.Nearest(s.Text, words); ok && s.Text != "" {
		d.report(s, "found %s, did you mean %q?", s.node, near)
	} else {
		d.report(s, "found %s, want %s", s.node, oneOfWords(words))
	}
	return ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Marshal writes the settings as an indented file with the effective defaults.
// Reading it gives the same settings.
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

// Show is Marshal for people. It hides the secrets that hide finds, the values of
// flags and variables whose names end in key, token, secret, password or
// credentials, and passwords in URLs.
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

// MaskWords hides secrets in a command line as Show does.
func MaskWords(argv []string, hide *redact.Redactor) []string {
	shown := maskFlags(argv)
	for i, word := range shown {
		shown[i] = hide.String(word)
	}
	return shown
}

const (
	sensitiveName  = `[\w.-]*(?:key|token|secret|password|passwd|credentials?)`
	sensitiveValue = `(?:'[^']*'|"[^"]*"|[^\s'"]+)`
)

var (
	secretAssignment = pattern.Of(`(?i)(` + sensitiveName + `(?:=|:\s+))` + sensitiveValue)
	secretFlagValue  = pattern.Of(`(?i)((?:^|[\s"'])--?` + sensitiveName + `\s+)` + sensitiveValue)
	urlPassword      = pattern.Of(`(://[^\s/:@]*:)[^\s/@]+@`)
	secretFlag       = pattern.Of(`(?i)^--?` + sensitiveName + `$`)
)

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

// maskFlags is maskLines for flags whose value can be the next word.
func maskFlags(flags []string) []string {
	out := maskLines(flags)
	for i := 1; i < len(flags); i++ {
		if secretFlag.MatchString(flags[i-1]) && !strings.HasPrefix(flags[i], "-") {
			out[i] = redact.Mask
		}
	}
	return out
}
