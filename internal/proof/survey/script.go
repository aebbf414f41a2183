package survey

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

var (
	checkLine   = pattern.Of(`\b(?:\w*lint|vet|clippy|\w*check|analy[sz]e|mypy|ruff|tsc|build)\b`)
	installLine = pattern.Of(`(?:^|[\s/])(?:install|sync|restore|download|fetch)\b|(?:^|\s)c?i\b|\byarn(?: -|$)`)
	// onRunner matches commands that install tools on the machine, or set the runner's variables. The sandbox cannot.
	onRunner = pattern.Of(`^(?:(?:cd|export|set) [^&]*&& )*(?:(?:sudo (?:-\S+ )*)?` +
		`(?:(?:apt|apt-get|brew|corepack|rustup|(?:pipx|mise|asdf) install)\b` +
		`|(?:npm|pnpm|bun|dotnet tool) (?:i|install|add)\b.* (?:-g|--global)\b|yarn global\b` +
		`|(?:python3? -m )?pip3? install(?: (?:-U|--upgrade|["']?[A-Za-z][\w.=<>!~,\[\]-]*["']?))+$)` +
		`|[^&]*\$\{?(?:GITHUB|RUNNER)_|[^&]*\| *(?:sudo (?:-\S+ )*)?(?:bash|sh|python3?)\b)`)
	// outside matches commands that need what the sandbox lacks.
	outside = pattern.Of(`(?:^|&& |; |then |else )` +
		`(?:sudo|docker|docker-compose|podman|git (?:fetch|pull|submodule|lfs))(?: |$)|` +
		`\$\{?(?:GITHUB|RUNNER)_`)
)

func isCheck(line string) bool {
	if installLine.MatchString(line) {
		return false
	}
	return testLine.MatchString(line) || checkLine.MatchString(line)
}

func forRunner(line string) bool { return onRunner.MatchString(line) && !isCheck(line) }

// commands takes the run steps of a job that do not depend on the job, as single lines. The rest is for the runner.
func (p *Proposal) commands(job workflowJob) []Command {
	var found []Command
	for _, step := range job.Steps {
		with, _ := step["with"].(map[string]any)
		if fmt.Sprint(with["bundler-cache"]) == "true" { // the sandbox lacks what the runner installs
			found = append(found, Command{"bundle install", job.from})
		}
		run := strings.TrimSpace(text(step["run"]))
		if run == "" {
			continue
		}
		lines := job.lines(step, run)
		for _, line := range lines {
			switch {
			case forRunner(line):
			case outside.MatchString(line):
				p.leaveOut(job.from, "command", line,
					"the sandbox has no root, Docker, git remote or variables of the runner")
			default:
				found = append(found, Command{line, job.from})
			}
		}
		if lines == nil {
			first, _, _ := strings.Cut(run, "\n")
			p.leaveOut(job.from, "run step", first,
				"only commands without expressions, conditions and variables of the job can be taken")
		}
	}
	return found
}

// lines returns the commands of a step, in its folder, or none if they need more.
func (j workflowJob) lines(step map[string]any, run string) []string {
	interpreter := step["shell"]
	if interpreter == nil {
		interpreter = j.Defaults.Run["shell"]
	}
	folder := step["working-directory"]
	if folder == nil {
		folder = j.Defaults.Run["working-directory"]
	}
	if j.tests { // env takes its variables
		step = maps.Clone(step)
		delete(step, "env")
	}
	known := interpreter == nil || interpreter == "bash" || interpreter == "sh"
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

// split sorts a job's commands into checks, and what prepares them.
func (p *Proposal) split(found []Command) (checks, setup []Command) {
	for _, c := range found {
		switch {
		case isCheck(c.Command):
			checks = append(checks, c)
		case checks == nil:
			setup = append(setup, c)
		default:
			p.leaveOut(c.From, "command", c.Command, "add it to setup if a check needs it")
		}
	}
	return checks, setup
}

var ofSecret = pattern.Of(`^\$\{\{\s*secrets\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}$`)

// env takes the plain variables of the job and of its steps that were taken. It only names those with secrets.
func (p *Proposal) env(job workflowJob) {
	all := maps.Clone(job.Env)
	several := map[string]bool{} // names with more than one value
	for _, step := range job.Steps {
		own, _ := step["env"].(map[string]any)
		lines := job.lines(step, strings.TrimSpace(text(step["run"])))
		taken := func(c Command) bool { return slices.Contains(lines, c.Command) }
		if !slices.ContainsFunc(slices.Concat(p.Checks, p.Setup), taken) {
			continue
		}
		for name, value := range own {
			before, ok := all[name]
			if ok && !reflect.DeepEqual(before, value) {
				several[name] = true
			}
			all[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		secret := ofSecret.FindStringSubmatch(text(value))
		switch {
		case expression(name):
		case secret != nil:
			p.Ignored = append(p.Ignored, fmt.Sprintf(
				"%s: the variable %s has the secret %s: add it to check-secrets", job.from, name, secret[1]))
		case several[name], !plainValue(value):
			p.leaveOut(job.from, "variable", name, "it has an expression, or not one plain value")
		default:
			p.Env = append(p.Env, Command{name + "=" + fmt.Sprint(value), job.from})
		}
	}
}

// plainValue reports whether a variable is one line without an expression: no list and no table.
func plainValue(value any) bool {
	switch value.(type) {
	case nil, []any, map[string]any:
		return false
	}
	return !expression(value) && !strings.Contains(text(value), "\n")
}
