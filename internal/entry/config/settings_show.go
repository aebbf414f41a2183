package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Marshal returns the settings as an indented file with the defaults. Reading it gives the same settings.
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

// Show is Marshal without what looks like a secret.
func (s Settings) Show() (string, error) {
	text, err := s.Marshal()
	return redact.New().String(string(text)), err
}
