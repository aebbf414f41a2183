package survey

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/pattern"
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
	shell, folder := step["shell"], step["working-directory"]
	if shell == nil {
		shell = j.Defaults.Run["shell"]
	}
	if folder == nil {
		folder = j.Defaults.Run["working-directory"]
	}
	if j.tests { // env takes its variables
		step = maps.Clone(step)
		delete(step, "env")
	}
	known := shell == nil || shell == "bash" || shell == "sh"
	if !known || !plainStep(step, "run", "shell", "working-directory") {
		return nil
	}
	if folder != nil {
		if !plain.MatchString(text(folder)) || !filepath.IsLocal(text(folder)) {
			return nil
		}
		run = "cd " + text(folder) + "\n" + run
	}
	return simple(run)
}

// simple returns the commands of a script that runs one after the other, or none if it does more. A command that changes
// the shell, such as cd, is put before each command that follows.
func simple(script string) (lines []string) {
	if expression(script) {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	before := ""
	for _, statement := range file.Stmts {
		if !sequence(statement, &before, &lines) {
			return nil
		}
	}
	return lines
}

// sequence adds the commands of a statement that consists of calls with && between them.
func sequence(statement *syntax.Stmt, before *string, lines *[]string) bool {
	if and, is := statement.Cmd.(*syntax.BinaryCmd); is && and.Op == syntax.AndStmt && !statement.Background && !statement.Negated {
		return sequence(and.X, before, lines) && sequence(and.Y, before, lines)
	}
	call, is := statement.Cmd.(*syntax.CallExpr)
	if _, pipe := statement.Cmd.(*syntax.BinaryCmd); !is && !pipe || statement.Background || statement.Negated {
		return false
	}
	printed := strings.Builder{}
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&printed, statement) != nil {
		return false
	}
	line := strings.TrimSpace(printed.String())
	switch {
	case strings.Contains(line, "\n") || expression(line): // a here-document or a quoted line break
		return false
	case is && changes(call):
		*before += line + " && "
	default:
		*lines = append(*lines, *before+line)
	}
	return true
}

// changes reports whether a call changes the shell in which the next command runs.
func changes(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 {
		return true
	}
	switch call.Args[0].Lit() {
	case "cd", "export", "set", "unset", "umask", ".", "eval", "exec", "trap", "alias", "ulimit":
		return true
	}
	return false
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
