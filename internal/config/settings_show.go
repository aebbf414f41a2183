package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/redact"
)

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
	s.Setup = masked(s.Setup)
	s.Guardrails = slices.Clone(s.Guardrails)
	for i, g := range s.Guardrails {
		s.Guardrails[i].Command, s.Guardrails[i].Hint = mask(g.Command), mask(g.Hint)
	}
	if s.SCM != nil {
		s.SCM = &SCM{Command: mask(s.SCM.Command), Tasks: masked(s.SCM.Tasks)}
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
	nameForm  = `[\w.-]*(?:key|token|secret|password|passwd|credentials?)`
	valueForm = `(?:'[^']*'|"[^"]*"|[^\s'"]+)`
)

var (
	assigned   = pattern.Of(`(?i)(` + nameForm + `(?:=|:\s+))` + valueForm)
	flagged    = pattern.Of(`(?i)((?:^|[\s"'])--?` + nameForm + `\s+)` + valueForm)
	inAddress  = pattern.Of(`(://[^\s/:@]*:)[^\s/@]+@`)
	secretFlag = pattern.Of(`(?i)^--?` + nameForm + `$`)
)

// mask hides the values in a line of words that their names give away.
func mask(line string) string {
	line = assigned.ReplaceAllString(line, "${1}"+redact.Mask)
	line = flagged.ReplaceAllString(line, "${1}"+redact.Mask)
	return inAddress.ReplaceAllString(line, "${1}"+redact.Mask+"@")
}

func masked(lines []string) []string {
	lines = slices.Clone(lines)
	for i, line := range lines {
		lines[i] = mask(line)
	}
	return lines
}

// maskFlags is masked where a flag and its value may be two entries.
func maskFlags(flags []string) []string {
	out := masked(flags)
	for i := 1; i < len(flags); i++ {
		if secretFlag.MatchString(flags[i-1]) && !strings.HasPrefix(flags[i], "-") {
			out[i] = redact.Mask
		}
	}
	return out
}
