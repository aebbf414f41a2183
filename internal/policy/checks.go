package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// NewChecks makes checks of commands. Each is named after its command; one that
// comes twice is run once.
func NewChecks(commands []string, timeout Duration) []Check { return AddChecks(nil, commands, timeout) }

// UniqueChecks gives checks names of their own, after their commands. Two that are
// alike in everything are one.
func UniqueChecks(checks []Check) []Check {
	var all []Check
	seen := map[Check]bool{}
	for _, check := range checks {
		check.Name = ""
		if seen[check] {
			continue
		}
		seen[check] = true
		check.Name = shortName(check.Command, all)
		all = append(all, check)
	}
	return all
}

// AddChecks is checks and those of more commands that are none of them yet. A command
// may name the paths it is limited to: paths: web/** -> npm test.
func AddChecks(checks []Check, commands []string, timeout Duration) []Check {
	all := slices.Clone(checks)
	for _, text := range commands {
		paths, command := splitPaths(text)
		if !slices.ContainsFunc(all, func(c Check) bool { return c.Command == command && c.Paths == paths }) {
			all = append(all, Check{Name: shortName(command, all), Command: command, Paths: paths, Timeout: timeout})
		}
	}
	return all
}

func splitPaths(text string) (paths, command string) {
	rest, is := strings.CutPrefix(text, "paths:")
	globs, command, found := strings.Cut(strings.Replace(rest, "→", "->", 1), "->")
	if !is || !found {
		return "", text
	}
	return strings.Join(strings.Fields(globs), " "), strings.TrimSpace(command)
}

// Configured is p with only the checks that people configured.
func (p Policy) Configured() Policy {
	p.Checks = slices.DeleteFunc(slices.Clone(p.Checks), func(c Check) bool { return c.Detected })
	p.Setup = slices.DeleteFunc(slices.Clone(p.Setup), func(c Check) bool { return c.Detected })
	return p
}

// shortName is a command short enough for a table, unlike any other's.
func shortName(command string, taken []Check) string {
	const most = 40
	short, _, more := strings.Cut(command, "\n")
	if runes := []rune(short); len(runes) > most {
		short, more = string(runes[:most]), true
	}
	if more {
		short += "…"
	}
	unique := short
	for i := 2; hasName(taken, unique); i++ {
		unique = fmt.Sprintf("%s (%d)", short, i)
	}
	return unique
}

func hasName(checks []Check, name string) bool {
	for _, check := range checks {
		if check.Name == name {
			return true
		}
	}
	return false
}

// IsInstructionFile tells of a protected file in which people tell agents what holds in
// a repository. What an agent would add there is worth their reading.
func IsInstructionFile(name string) bool {
	name = strings.ToLower(name)
	switch path.Base(name) {
	case "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "copilot-instructions.md":
		return true
	}
	return strings.Contains("/"+name, "/.claude/rules/")
}

// ProtectedFiles are the files that an agent may not change, wherever they lie: what
// another machine or another person's tools run, read or connect to without
// being asked, and who may merge. What somebody starts by name, such as a
// Makefile, is the work itself.
func ProtectedFiles() []string {
	all := []string{"CODEOWNERS", "docs/CODEOWNERS"}
	for _, name := range []string{
		// CI systems and bots
		".github/**", "action.yml", "action.yaml", ".forgejo/**", ".gitea/**", ".gitlab/**", "*.gitlab-ci.yml",
		".circleci/**", "Jenkinsfile*", ".buildkite/**", ".teamcity/**", ".semaphore/**", ".tekton/**",
		"azure-pipelines*.{yml,yaml}", ".azure-pipelines/**", "bitbucket-pipelines.yml",
		".travis.yml", "appveyor.yml", ".appveyor.yml", ".drone.yml", ".drone.star", ".drone.jsonnet",
		".woodpecker/**", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml", ".cirrus.star",
		"buildspec.yml", "cloudbuild.yaml", "cloudbuild.yml", ".readthedocs.yml", ".readthedocs.yaml",
		"renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".mergify.yml", ".mergify/**", ".kodiak.toml",
		// editors that open the folder, and machines made for them
		".vscode/**", "*.code-workspace", ".idea/**", ".zed/**", ".fleet/**", ".devcontainer/**", ".devcontainer.json", ".gitpod.yml",
		// hooks and settings of git; .gitattributes and .gitmodules are the hand-over's own concern
		".husky/**", ".githooks/**", "lefthook*.{yml,yaml,toml,json}", ".lefthook*.{yml,yaml,toml,json}",
		".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".overcommit.yml", ".simple-git-hooks.*", ".lfsconfig",
		// agents, ralph's and others'
		".ralph/**", "AGENTS.md", "AGENTS.override.md", "AGENT.md", "CONTEXT.md", ".agents/**", ".mcp.json",
		"CLAUDE.md", "CLAUDE.local.md", ".claude/**", ".codex/**", ".copilot/**", ".amp/**",
		"GEMINI.md", ".gemini/**", ".geminiignore", "QWEN.md", ".qwen/**", "opencode.json", "opencode.jsonc", ".opencode/**",
		".cursor/**", ".cursorrules", ".windsurf/**", ".windsurfrules", ".clinerules/**", ".roo/**",
		".kiro/**", ".junie/**", ".continue/**", ".aider.conf.yml", ".goosehints",
	} {
		all = append(all, "**/"+name)
	}
	return all
}

// Session is a loop within one session of an agent: the session goes on until
// its agent has given the word as a promise. What the agent does before it
// wants to end for the first time is iteration 0; Limits.Iterations is how
// often it may be sent back to work after that.
const (
	Session   Preset = "session"
	ByPromise Done   = "promise"
)

// NoWork is what becomes of a promise before enough tools were called.
type NoWork string

// Such a promise is rejected, unless people want to believe it.
const (
	NoWorkRejected NoWork = "reject"
	NoWorkAccepted NoWork = "accept"
)

// SessionRules is what a loop of that kind goes by, besides its limits.
type SessionRules struct {
	MinTools int    `json:"min_tools,omitempty"` // calls before a promise counts
	NoWork   NoWork `json:"no_work,omitempty"`   // NoWorkRejected where empty
	Ultra    bool   `json:"ultra,omitempty"`     // every continuation begins with words that ask for more
	// Cap is how many ends in a row the agent's program lets be refused while
	// no tool is called; 0: any number. The one after that it does not ask
	// about, it ends.
	Cap int `json:"cap,omitempty"`
}

// PromiseTag is the word as the agent has to write it, to the letter.
func (p Policy) PromiseTag() string { return "<promise>" + p.Word + "</promise>" }

// SessionStatus is a reason as loops within a session have always called it.
func (r Reason) SessionStatus() string {
	if r == MaxIterations {
		return "MAX_ITERATIONS_REACHED"
	}
	return strings.ToUpper(string(r))
}

// Supervised is a command that is started again, whatever it ends with, until
// it has left a DONE file: a run is complete ByFile. An attempt is an iteration
// of it, so that Limits.Iterations is how often it is started, and
// Limits.Iteration how long one may take.
const (
	Supervised Preset = "supervise"
	ByFile     Done   = "file"
)

// Supervision is what a run of that kind goes by, besides its limits. The
// command itself is not part of it: command lines hold keys.
type Supervision struct {
	Project string   `json:"project,omitempty"`
	Task    string   `json:"task,omitempty"`
	Dir     string   `json:"dir,omitempty"`   // the task's folder
	Delay   Duration `json:"delay,omitempty"` // before each attempt but the first
	Poll    Duration `json:"poll,omitempty"`  // between two looks at what a finished task left running
	Wait    Duration `json:"wait,omitempty"`  // for that to end; 0: for ever
}
