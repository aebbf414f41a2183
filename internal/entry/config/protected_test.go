package config_test

import (
	"slices"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// agentFiles are the files of a repository from which each agent reads instructions,
// settings, commands to run or servers to connect to.
var agentFiles = map[string][]string{
	"amp":    {"AGENTS.md", "AGENT.md", "CLAUDE.md", ".agents/skills/x/SKILL.md", ".agents/commands/x.md", ".amp/settings.json"},
	"claude": {"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/settings.json", ".claude/settings.local.json", ".claude/rules/x.md", ".claude/agents/x.md", ".mcp.json"},
	"codex":  {"AGENTS.md", "AGENTS.override.md", ".codex/config.toml", ".codex/hooks.json", ".agents/skills/x/SKILL.md"},
	"copilot": {
		"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".github/instructions/x.instructions.md", ".github/agents/x.md",
		".github/hooks/x.json", ".copilot/mcp-config.json",
	},
	"gemini":   {"GEMINI.md", "CONTEXT.md", ".gemini/settings.json", ".gemini/.env", ".gemini/commands/x.toml", ".geminiignore", ".agents/skills/x/SKILL.md"},
	"opencode": {"AGENTS.md", "CLAUDE.md", "CONTEXT.md", "opencode.json", "opencode.jsonc", ".opencode/plugin/x.ts", ".opencode/agent/x.md", ".agents/skills/x/SKILL.md"},
	"command":  {".windsurf/rules/x.md", ".windsurfrules", ".clinerules", ".clinerules/x.md", ".roo/rules/x.md", ".aider.conf.yml", ".kiro/steering/x.md", ".junie/guidelines.md", ".continue/rules/x.md"},
	"qwen":     {"QWEN.md", ".qwen/settings.json", "AGENTS.md"},
	"goose":    {".goosehints", "AGENTS.md"},
	"cursor":   {".cursor/rules/x.mdc", ".cursorrules", "AGENTS.md"},
	"acp":      {"AGENTS.md"},
	"scripted": {"AGENTS.md"},
}

// The next agent obeys such a file, in the folder where it works and in those above.
func TestWhatAgentsAreToldIsProtected(t *testing.T) {
	for _, name := range agent.Names() {
		if len(agentFiles[name]) == 0 {
			t.Errorf("no list names the files that agent %s reads in a repository", name)
		}
		for _, file := range agentFiles[name] {
			for _, at := range []string{file, "services/shop/" + file} {
				if !protected(t, at) {
					t.Errorf("%s, which %s reads, is not protected", at, name)
				}
			}
		}
	}
}

// Files that CI systems, bots, editors and git run or read by themselves are protected.
// Programs that people start by name are not.
func TestProtected(t *testing.T) {
	for _, name := range []string{
		".github/workflows/ci.yml", "docs/CODEOWNERS", ".claude", "a/.github", "tools/setup/action.yaml", "ci/build.gitlab-ci.yml",
		"Jenkinsfile.release", "azure-pipelines-release.yaml", ".woodpecker.yml", "renovate.json", ".devcontainer.json", ".vscode/tasks.json",
		"shop.code-workspace", ".husky/pre-commit", "lefthook-local.yml", ".pre-commit-config.yaml", ".lfsconfig", ".ralph/settings.json",
		"shop/.ralph/runs/x/journal.jsonl",
	} {
		if !protected(t, name) {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range []string{
		"main.go", "claude/main.go", "README.md", "AGENTS.md.txt", "MYAGENTS.md", "docs/context/x.md", ".gitignore", "opencode.go",
		"github/x.yml", ".cursorrules.go", "src/CODEOWNERS", "Makefile", "package.json", "Dockerfile", "transaction.yml", "src/action.yml.go", ".npmrc", "vscode/settings.json",
	} {
		if protected(t, name) {
			t.Errorf("%s is protected", name)
		}
	}
}

func protected(t *testing.T, name string) bool {
	t.Helper()
	return slices.ContainsFunc(policy.ProtectedFiles(), func(glob string) bool {
		matched, err := doublestar.Match(glob, name)
		if err != nil {
			t.Errorf("%s: %v", glob, err)
		}
		return matched
	})
}
