package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
)

// decoder decodes files of settings, and reports the problems of all of them together.
type decoder struct{ jsontree.Decoder }

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
		to.Timeout = guardrailTimeout
	case *SCM:
		to.Tasks = []string{}
	}
	return false
}

// durationForm is stricter than policy.ParseDuration, which accepts "inf" and
// "0x1p4". The schema has the same expression.
var durationForm = pattern.Of(
	`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)d?|(([0-9]+(\.[0-9]*)?|\.[0-9]+)d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`)

const maxSeconds = 9e9

func (d *decoder) duration(at jsontree.At) policy.Duration {
	parsed, err := policy.ParseDuration(at.Text)
	seconds, notBare := strconv.ParseFloat(at.Text, 64)
	formed := at.Kind == jsontree.Number || at.Kind == jsontree.Text && durationForm.MatchString(at.Text)
	if !formed || err != nil || notBare == nil && seconds > maxSeconds {
		d.Report(at, `found %s, want seconds (90) or units ("1h30m"), at least 0`, at)
		return 0
	}
	return parsed
}

// patternWords explains the patterns of the tags.
var patternWords = map[string]string{
	`^\S+$`:                             "it without blanks",
	`^[^\s/]+$`:                         "a host's name alone, with a port if need be",
	`^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$`: "a model's name, or a pattern, as in claude-haiku-*",
	`^[A-Za-z_][A-Za-z0-9_]*$`:          "the name of a variable, as in DATABASE_URL",
}

// check says what is wrong with a text beyond what its type tells.
func check(n jsontree.Node, form, check string) string {
	want := ""
	switch {
	case strings.ContainsRune(n.Text, 0): // arguments cannot have one
		return "found a NUL in it, want text"
	case patternWords[form] != "" && !regexp.MustCompile(form).MatchString(n.Text):
		want = patternWords[form]
	case check == "glob" && !doublestar.ValidatePattern(n.Text): // it would match nothing without an error
		want = "a glob whose brackets and braces are closed"
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
	"agent":    checkAgent,
	"command":  checkCommand,
	"variable": environ.CheckVariable,
	"service":  func(s string) error { _, err := egress.ParseServices([]string{s}); return err },
}

// checkCommand reports a command that agent.Words cannot split.
func checkCommand(line string) error {
	words, err := agent.Words(line)
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("found %q, want words that a shell would not take for a comment", line)
	}
	return err
}

// buildAgent is the default agent in a file with ralph_loop.
const buildAgent = "build"

func checkAgent(name string) error {
	if names := append([]string{buildAgent}, agent.Names()...); !slices.Contains(names, name) {
		return fmt.Errorf("found %q, %s", name, jsontree.Choose(name, names))
	}
	return nil
}

const maxProblems = 100

func (d *decoder) fault() error {
	if len(d.Problems) == 0 {
		return nil
	}
	var files []string
	for i, p := range d.Problems {
		if d.Problems[i].Text = mask(p.Text); !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	all := strings.Join(files, " and ")
	return fault.Usage(jsontree.Describe(d.Problems, maxProblems, all+" cannot be used"), "fix "+all+"; remove a key to get its default", nil)
}
