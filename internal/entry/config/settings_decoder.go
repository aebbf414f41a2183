package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// decoder decodes settings files, and collects the problems of all files.
type decoder struct {
	jsontree.Decoder
	yaml string // the file that was YAML, of whose values no line is known
}

func newDecoder() *decoder {
	d := &decoder{}
	d.Check, d.Before = check, d.before
	return d
}

func (d *decoder) before(at jsontree.At, to any) (done bool) {
	switch to := to.(type) {
	case *policy.Duration:
		*to = d.duration(at)
		return true
	case *Guardrail:
		to.Timeout = GuardrailTimeout
	case *policy.SCM:
		to.Tasks = []string{}
	}
	return false
}

func (d *decoder) duration(at jsontree.At) policy.Duration {
	parsed, err := policy.ParseDuration(at.Text)
	isScalar := at.Kind == jsontree.Number || at.Kind == jsontree.Text
	if err != nil || !isScalar {
		d.Report(at, `found %s, want seconds (90) or units ("1h30m"), at least 0`, at)
		return 0
	}
	return parsed
}

// patternWords explains the patterns of the tags.
var patternWords = map[string]string{
	`^\S+$`:                             "text without blanks",
	`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`: "a model name or pattern, such as claude-haiku-*",
	`^[A-Za-z_][A-Za-z0-9_]*$`:          "a variable name, such as DATABASE_URL",
}

// check checks a text against the pattern and the check of its field, and returns the problem.
func check(n jsontree.Node, form, check string) string {
	want := ""
	switch {
	case strings.ContainsRune(n.Text, 0): // arguments cannot have one
		return "found a NUL character, want text"
	case patternWords[form] != "" && !regexp.MustCompile(form).MatchString(n.Text):
		want = patternWords[form]
	case check == "glob" && !doublestar.ValidatePattern(n.Text): // it would match nothing without an error
		want = "a glob with closed brackets and braces"
	case valueChecks[check] != nil:
		if err := valueChecks[check](n.Text); err != nil {
			return err.Error()
		}
	}
	if want == "" {
		return ""
	}
	return fmt.Sprintf("found %s, want %s", n, want)
}

var valueChecks = map[string]func(string) error{
	"agent":   checkAgent,
	"command": checkCommand,
	"host":    func(s string) error { _, err := egress.ParseNames([]string{s}); return err },
	"folder": func(s string) error {
		if filepath.IsLocal(s) {
			return nil
		}
		return fmt.Errorf("%q is outside the repository", s)
	},
	"variable": environ.CheckVariable,
	"service":  func(s string) error { _, err := egress.ParseServices([]string{s}); return err },
}

// checkCommand reports a command that agent.Words cannot split.
func checkCommand(line string) error {
	words, err := agent.Words(line)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fmt.Errorf("found %q, want a command, not a shell comment", line)
	}
	return nil
}

// buildAgent is the default agent in a file with ralph_loop.
const buildAgent = "build"

func checkAgent(name string) error {
	names := append([]string{buildAgent}, agent.Names()...)
	if slices.Contains(names, name) {
		return nil
	}
	return fmt.Errorf("found %q, %s", name, jsontree.Choose(name, names))
}

const maxProblems = 100

func (d *decoder) fault() error {
	if len(d.Problems) == 0 {
		return nil
	}
	var files []string
	for i, p := range d.Problems {
		if p.File == d.yaml && p.Path != "" {
			d.Problems[i].Line = 0
		}
		d.Problems[i].Text = redact.New().String(p.Text)
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	all := strings.Join(files, " and ")
	return fault.Usage(
		jsontree.Describe(d.Problems, maxProblems, all+" cannot be used"),
		"fix "+all+", or remove a key to use its default",
		nil)
}
