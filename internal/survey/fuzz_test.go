package survey_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/survey"
)

// FuzzDevcontainer holds that each command that is proposed is one line, which a person
// can read.
func FuzzDevcontainer(f *testing.F) {
	f.Add(`{"image": "go:1.26", /* x */ "postCreateCommand": {"a": "npm ci", "b": ["x"]},}`)
	f.Add(`{"features": {"ghcr.io/devcontainers/features/node:1": {"version": "22"}}, "onCreateCommand": "a\nb"}`)
	f.Add("{\"image\": \"a\u2028b\", \"updateContentCommand\": \"sudo a; b \\u001b[2J\"}")
	f.Fuzz(func(t *testing.T, text string) {
		p := survey.Propose(of(map[string]string{devFile: text}))
		for _, command := range append(p.Setup, p.Checks...) {
			if strings.ContainsFunc(command.Command, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
				t.Errorf("%q is proposed", command.Command)
			}
		}
		for _, step := range p.Steps {
			if strings.Count(step.YAML, "\n") != 3 {
				t.Errorf("the step %q", step.YAML)
			}
		}
	})
}
