package survey

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/shell"
)

var (
	checkLine   = pattern.Of(`\b(?:lint|vet|clippy|check|typecheck|mypy|ruff|tsc|build)\b`)
	installLine = pattern.Of(`(?:^|[\s/])(?:install|sync|restore|download|fetch)\b|(?:^|\s)ci\b`)
	asRoot      = pattern.Of(`\bsudo\b|\bapt(?:-get)?\b`)
)

// commands takes the run steps of a job that do not depend on the job, as single lines.
func (p *Proposal) commands(job workflowJob) (found []Command) {
	for _, step := range job.Steps {
		run := strings.TrimSpace(text(step["run"]))
		if run == "" {
			continue
		}
		lines := job.lines(step, run)
		for _, line := range lines {
			found = append(found, Command{line, job.from})
		}
		if first, _, _ := strings.Cut(run, "\n"); lines == nil {
			p.Ignored = append(p.Ignored, fmt.Sprintf("%s: the run step %q is left out: only commands without expressions, conditions and variables of the job can be taken", job.from, first))
		}
	}
	return found
}

// lines returns the commands of a step, in its folder, or none if they need more.
func (j workflowJob) lines(step map[string]any, run string) []string {
	runner, folder := step["shell"], step["working-directory"]
	if runner == nil {
		runner = j.Defaults.Run["shell"]
	}
	if folder == nil {
		folder = j.Defaults.Run["working-directory"]
	}
	if j.tests { // env takes its variables
		step = maps.Clone(step)
		delete(step, "env")
	}
	known := runner == nil || runner == "bash" || runner == "sh"
	if !known || !plainStep(step, "run", "shell", "working-directory") {
		return nil
	}
	if folder != nil {
		if !plain.MatchString(text(folder)) || !filepath.IsLocal(text(folder)) {
			return nil
		}
		run = "cd " + text(folder) + "\n" + run
	}
	lines := shell.Sequence(run)
	if expression(run) || expression(strings.Join(lines, "\n")) { // a line may be joined from several
		return nil
	}
	return lines
}

// split sorts a job's commands into checks, and installations before them. Commands for root are left out.
func split(found []Command) (checks, setup []Command) {
	for _, c := range found {
		install := installLine.MatchString(c.Command)
		switch {
		case asRoot.MatchString(c.Command):
		case install && checks == nil:
			setup = append(setup, c)
		case !install && (testLine.MatchString(c.Command) || checkLine.MatchString(c.Command)):
			checks = append(checks, c)
		}
	}
	return checks, setup
}

var ofSecret = pattern.Of(`^\$\{\{\s*secrets\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$`)

// env takes the plain variables of the job and of its steps that were taken. It only names those with secrets.
func (p *Proposal) env(job workflowJob) {
	all, several := maps.Clone(job.Env), map[string]bool{}
	for _, step := range job.Steps {
		own, _ := step["env"].(map[string]any)
		lines := job.lines(step, strings.TrimSpace(text(step["run"])))
		taken := func(c Command) bool { return slices.Contains(lines, c.Command) }
		if !slices.ContainsFunc(slices.Concat(p.Checks, p.Setup), taken) {
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
