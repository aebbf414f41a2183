package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/guard"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

var writeTools = []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}

// checkTool denies a tool call, or leaves the decision to the agent's own permissions.
func (d Environment) checkTool(in input) answer {
	project := d.project(in)
	protect, unreadable := d.Settings(project)
	guarded := guard.Project{Root: project, Home: d.Env("HOME"), Dir: in.Dir, Protect: protect}
	s, err := openSession(d.State, in.Session)
	if err != nil { // a loop is unknown, and a warning would be repeated for each call
		return deny(d.whyRefused(in, guarded, false))
	}
	defer s.close()
	refused := deny(d.whyRefused(in, guarded, s.Loop != ""))
	if refused != (answer{}) || unreadable == nil || s.Warned {
		return refused
	}
	s.Warned = true
	return tellUser(fmt.Sprintf(
		"ralph: cannot read the settings, so its protected files are not known: %v", unreadable))
}

func (d Environment) whyRefused(in input, guarded guard.Project, looping bool) string {
	line := in.ToolInput.Command.text()
	switch {
	case in.Tool == "":
		return "Blocked by ralph's guard: the request has no tool name."
	case slices.Contains(writeTools, in.Tool):
		return d.whyWriteRefused(in, guarded)
	case in.Tool == "Bash" && line == "":
		return "Blocked by ralph's guard: the request has no command."
	case looping && strings.Contains(line, "hook loop-"):
		return "Only the user starts and ends the loop. To end it, complete the task and give the promise."
	}
	if why := d.whyPatchRefused(in, line, guarded); why != "" {
		return why
	}
	if line == "" || in.Tool == patchTool {
		return ""
	}
	if finding, refused := guard.CheckCommand(line, guarded); refused {
		return finding.String()
	}
	return ""
}

// patchTool is Codex's tool for patches, which is also a command in its shell.
const patchTool = "apply_patch"

func (d Environment) whyPatchRefused(in input, line string, guarded guard.Project) string {
	if in.Tool != patchTool && !strings.HasPrefix(strings.TrimSpace(line), patchTool) {
		return ""
	}
	for _, path := range patchedFiles(in.ToolInput.Input + "\n" + line) {
		if finding, refused := guard.CheckWrite(absolute(in.Dir, path), guarded); refused {
			return finding.String()
		}
	}
	return ""
}

func (d Environment) whyWriteRefused(in input, guarded guard.Project) string {
	path := in.ToolInput.File + in.ToolInput.Notebook
	if path == "" {
		return "Blocked by ralph's guard: the request has no file."
	}
	path = absolute(in.Dir, path)
	if d.State != "" && process.Under(d.State, path) {
		return "This file belongs to ralph. Instead: leave it unchanged."
	}
	if finding, refused := guard.CheckWrite(path, guarded); refused {
		return finding.String()
	}
	return ""
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~/") || dir == "" {
		return path
	}
	return filepath.Join(dir, path)
}

func (c command) text() string {
	if len(c.Words) == 0 {
		return c.Line
	}
	quoted := make([]string, len(c.Words))
	for i, word := range c.Words {
		quoted[i] = shell.Quote(word)
	}
	return strings.Join(quoted, " ")
}

var patchedFile = pattern.Of(`(?m)^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.*)`)

func patchedFiles(patch string) []string {
	var paths []string
	for _, match := range patchedFile.FindAllStringSubmatch(patch, -1) {
		paths = append(paths, strings.TrimSpace(match[1]))
	}
	return paths
}

const (
	defaultWindow  = 200_000
	defaultDivisor = 4
)

var contextLevels = []struct {
	percent  int
	severity string
}{
	{50, "NOTICE"},
	{60, "NOTICE"},
	{70, "WARNING"},
	{80, "WARNING"},
	{90, "CRITICAL"},
}

func (d Environment) contextAdvice(in input) answer {
	used, exact := d.contextTokens(in.Transcript)
	window := d.number("CLAUDE_CONTEXT_WINDOW", defaultWindow)
	percent := int(float64(used) / window * 100)
	if percent < contextLevels[0].percent {
		return answer{}
	}
	severity := d.newSeverity(in.Session, percent)
	if severity == "" {
		return answer{}
	}
	how := ""
	if !exact {
		how = ", estimated by the length of the transcript"
	}
	text := prompt.Fill("session/context.md",
		"{severity}", severity,
		"{percent}", strconv.Itoa(percent),
		"{used}", strconv.FormatInt(used, 10),
		"{window}", strconv.FormatFloat(window, 'f', -1, 64),
		"{how}", how,
		"{advice}", prompt.Fill("session/"+strings.ToLower(severity)+".md"))
	return answer{Specific: advice{"PostToolUse", text}}
}

// contextTokens returns the model's last count, or an estimate by the transcript's size.
func (d Environment) contextTokens(transcript string) (tokens int64, exact bool) {
	tokens, size, err := readContextSize(transcript)
	if err != nil || tokens > 0 {
		return tokens, true
	}
	return int64(float64(size) / d.number("RALPH_CONTEXT_DIVISOR", defaultDivisor)), false
}

// newSeverity returns the severity of the highest level, if that was not reported before.
func (d Environment) newSeverity(session string, percent int) string {
	s, err := openSession(d.State, session)
	if err != nil {
		return "" // it would be reported repeatedly
	}
	defer s.close()
	severity := ""
	for _, level := range contextLevels {
		if percent >= level.percent && level.percent > s.Context {
			s.Context = level.percent
			severity = level.severity
		}
	}
	return severity
}

func (d Environment) number(name string, fallback float64) float64 {
	value, err := strconv.ParseFloat(d.Env(name), 64)
	if err == nil && value > 0 && value < 1e12 {
		return value
	}
	return fallback
}
