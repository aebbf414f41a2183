package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
)

// Marshal returns the settings as an indented file with the defaults. Reading it gives
// the same settings.
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

// Show is Marshal without secrets: those that hide finds, the values of flags and
// variables whose names end in key, token, secret, password or credentials, and
// passwords in URLs.
func (s Settings) Show(hide *redact.Redactor) (string, error) {
	s.Agent.Command = mask(s.Agent.Command)
	s.Agent.Flags = maskFlags(s.Agent.Flags)
	s.Setup, s.CheckEnv = maskLines(s.Setup), maskLines(s.CheckEnv)
	s.Guardrails = slices.Clone(s.Guardrails)
	for i, g := range s.Guardrails {
		s.Guardrails[i].Command, s.Guardrails[i].Hint = mask(g.Command), mask(g.Hint)
	}
	if s.SCM != nil {
		s.SCM = &policy.SCM{Command: mask(s.SCM.Command), Tasks: maskLines(s.SCM.Tasks)}
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

// maskFlags is maskLines for flags. The value of a flag can be the next word.
func maskFlags(flags []string) []string {
	out := maskLines(flags)
	for i := 1; i < len(flags); i++ {
		if secretFlag.MatchString(flags[i-1]) && !strings.HasPrefix(flags[i], "-") {
			out[i] = redact.Mask
		}
	}
	return out
}
