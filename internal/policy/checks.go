package policy

import (
	"fmt"
	"strings"
)

// Checks makes checks of commands. Each is named after its command; one that
// comes twice is run once.
func Checks(commands []string, timeout Duration) []Check {
	var all []Check
	seen := map[string]bool{}
	for _, command := range commands {
		if seen[command] {
			continue
		}
		seen[command] = true
		all = append(all, Check{Name: name(command, all), Command: command, Timeout: timeout})
	}
	return all
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

// Protected are the files an agent may not change unless a repository says
// otherwise: who may merge, what GitHub runs, and what agents are told.
func Protected() []string {
	return []string{
		".github/**", "CODEOWNERS", "docs/CODEOWNERS",
		"**/AGENTS.md", "**/CLAUDE.md", "**/GEMINI.md", ".claude/**", ".codex/**", ".mcp.json",
	}
}
