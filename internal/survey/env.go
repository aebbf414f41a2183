package survey

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var ofSecret = pattern.Of(`^\$\{\{\s*secrets\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$`)

// env takes the variables of the job and of its steps that were taken: plain values only; secrets are named.
func (p *Proposal) env(job workflowJob) {
	all, several := maps.Clone(job.Env), map[string]bool{}
	for _, step := range job.Steps {
		own, _ := step["env"].(map[string]any)
		if !p.took(job.lines(step, strings.TrimSpace(text(step["run"])))) {
			continue
		}
		for name, value := range own {
			if before, is := all[name]; is && before != value {
				several[name] = true
			}
			all[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		_, list := value.([]any)
		_, table := value.(map[string]any)
		secret := ofSecret.FindStringSubmatch(text(value))
		switch {
		case expression(name):
		case secret != nil:
			p.Ignored = append(p.Ignored, fmt.Sprintf("%s: the variable %s has the secret %s: add it to check-secrets", job.from, name, secret[1]))
		case several[name], list, table, value == nil, expression(value), strings.Contains(text(value), "\n"):
			p.Ignored = append(p.Ignored, fmt.Sprintf("%s: the variable %s is left out: it has an expression, or not one plain value", job.from, name))
		default:
			p.Env = append(p.Env, Command{name + "=" + fmt.Sprint(value), job.from})
		}
	}
}

// took tells whether one of the commands is a check or sets up.
func (p *Proposal) took(lines []string) bool {
	return slices.ContainsFunc(slices.Concat(p.Checks, p.Setup), func(c Command) bool { return slices.Contains(lines, c.Command) })
}
