package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Checks makes checks of commands. Each is named after its command; one that
// comes twice is run once.
func Checks(commands []string, timeout Duration) []Check { return With(nil, commands, timeout) }

// Unique gives checks names of their own, after their commands. Two that are
// alike in everything are one.
func Unique(checks []Check) []Check {
	var all []Check
	seen := map[Check]bool{}
	for _, check := range checks {
		check.Name = ""
		if seen[check] {
			continue
		}
		seen[check] = true
		check.Name = name(check.Command, all)
		all = append(all, check)
	}
	return all
}

// With is checks and those of more commands that are none of them yet.
func With(checks []Check, commands []string, timeout Duration) []Check {
	all := slices.Clone(checks)
	for _, command := range commands {
		if !slices.ContainsFunc(all, func(c Check) bool { return c.Command == command }) {
			all = append(all, Check{Name: name(command, all), Command: command, Timeout: timeout})
		}
	}
	return all
}

// Named is p without what nobody named.
func (p Policy) Named() Policy {
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool { return c.Detected })
	p.Setup = slices.DeleteFunc(slices.Clone(p.Setup), func(c Check) bool { return c.Detected })
	return p
}

// name is a command short enough for a table, unlike any other's.
func name(command string, taken []Check) string {
	const most = 40
	short, _, more := strings.Cut(command, "\n")
	if runes := []rune(short); len(runes) > most {
		short, more = string(runes[:most]), true
	}
	if more {
		short += "…"
	}
	unique := short
	for i := 2; has(taken, unique); i++ {
		unique = fmt.Sprintf("%s (%d)", short, i)
	}
	return unique
}

func has(checks []Check, name string) bool {
	for _, check := range checks {
		if check.Name == name {
			return true
		}
	}
	return false
}

// Instructs tells of a protected file in which people tell agents what holds in
// a repository. What an agent would add there is worth their reading.
func Instructs(name string) bool {
	name = strings.ToLower(name)
	switch path.Base(name) {
	case "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "copilot-instructions.md":
		return true
	}
	return strings.Contains("/"+name, "/.claude/rules/")
}

// Protected are the files an agent may not change unless a repository says
// otherwise: who may merge, what GitHub runs, and what agents are told, run and
// connect to, ralph's and others'. They look in every folder on their way.
func Protected() []string {
	return []string{
		"CODEOWNERS", "docs/CODEOWNERS", "**/.github/**", ".vscode/mcp.json",
		"**/AGENTS.md", "**/AGENTS.override.md", "**/AGENT.md", "**/CONTEXT.md", "**/.agents/**", "**/.mcp.json",
		"**/CLAUDE.md", "**/CLAUDE.local.md", "**/.claude/**", "**/.codex/**", "**/.copilot/**", "**/.amp/**",
		"**/GEMINI.md", "**/.gemini/**", "**/.geminiignore", "**/QWEN.md", "**/.qwen/**",
		"**/opencode.json", "**/opencode.jsonc", "**/.opencode/**",
		"**/.cursor/**", "**/.cursorrules", "**/.windsurf/**", "**/.windsurfrules", "**/.clinerules/**", "**/.roo/**",
		"**/.kiro/**", "**/.junie/**", "**/.continue/**", "**/.aider.conf.yml", "**/.goosehints",
	}
}
