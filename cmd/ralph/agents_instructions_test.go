package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// governing is what a repository tells agents, and what it would have their programs
// run. WHOSE stands for the commit.
const governing = `
-- CLAUDE.md --
WHOSE-claude
-- AGENTS.md --
WHOSE-agents
-- GEMINI.md --
WHOSE-gemini
-- web/CLAUDE.md --
WHOSE-nested-claude
-- web/AGENTS.md --
WHOSE-nested-agents
-- .claude/rules/go.md --
WHOSE-rule
-- .github/copilot-instructions.md --
WHOSE-copilot
-- .claude/skills/ship/SKILL.md --
---
name: ship
description: WHOSE-skill
---
-- .agents/skills/test/SKILL.md --
---
name: test
description: WHOSE-shared-skill
---
-- .claude/agents/tester.md --
---
name: tester
description: WHOSE-agent
---
-- .github/agents/writer.agent.md --
---
name: writer
description: WHOSE-other-agent
---
-- .claude/settings.json --
{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-claude-hook"}]}]},
 "apiKeyHelper": "touch ran-claude-helper; echo k", "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, "enableAllProjectMcpServers": true}
-- .mcp.json --
{"mcpServers": {"m": {"command": "sh", "args": ["-c", "echo WHOSE-server $(id -u) >ran; for host in files other; do git ls-remote https://$host.example.com/x.git 2>&1 | sed -n 's/.*CONNECT.* //p' >>ran; done; mv ran ran-mcp"]}, "other": {"command": "touch", "args": ["ran-other"]}}}
-- .gemini/settings.json --
{"mcpServers": {"m": {"command": "touch", "args": ["ran-gemini-mcp"]}}, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-gemini-hook"}]}]}}
-- opencode.json --
{"mcp": {"m": {"type": "local", "command": ["touch", "ran-opencode-mcp"]}}}
-- .codex/config.toml --
[mcp_servers.m]
command = "touch"
args = ["ran-codex-mcp"]
-- .codex/hooks.json --
{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch ran-codex-hook"}]}]}}
-- .github/hooks/h.json --
{"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "touch ran-copilot-hook"}]}}
-- .github/mcp.json --
{"mcpServers": {"m": {"type": "local", "command": "touch", "args": ["ran-copilot-mcp"], "tools": ["*"]}}}
`

// realInputs are the inputs by which the real CLIs get their keys, by their prefixes.
var realInputs = map[string]string{
	"claude": "ANTHROPIC", "codex": "OPENAI", "gemini": "GEMINI", "opencode": "ANTHROPIC", "copilot": "PROVIDER",
}

// The real CLIs are told in their first request what the base commit tells agents, and
// nothing that the pull request's branch does. Hooks, servers and key helpers of neither
// run.
func TestAgentsAreToldByTheBase(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	const script = "cat *.md web/*.md > told.txt; ls >> told.txt; git add told.txt; git commit -qm 'feat: told'"
	for name, input := range realInputs {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start(t, modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell(script)}}, modeltest.Answer{Words: "Done."})
			told := toldIn(t, name, "INPUT_"+input+"-API-KEY="+agentKey, "INPUT_MODEL-BASE-URL="+server.URL)
			var bodies []string
			for _, request := range server.Work() {
				bodies = append(bodies, request.Body)
			}
			toldByTheBase(t, bodies, told)
		})
	}
}

// toldByTheBase judges the requests that an agent made, the first of which has the
// prompt, and what it saw in its tree.
func toldByTheBase(t *testing.T, bodies []string, told string) {
	t.Helper()
	if len(bodies) == 0 {
		t.Fatal("no request came")
	}
	for _, file := range txtar.Parse([]byte(governing)).Files {
		if file.Name == ".mcp.json" {
			continue
		}
		for line := range strings.Lines(string(file.Data)) {
			if _, mark, found := strings.Cut(strings.TrimSpace(line), "WHOSE-"); found && !strings.Contains(bodies[0], "BASE-"+mark) {
				t.Errorf("of %s nothing is in the first request", file.Name)
			}
		}
	}
	for i, body := range bodies {
		if at := strings.Index(body, "HEAD-"); at >= 0 {
			t.Errorf("request %d holds %.60s", i, body[at:])
		}
	}
	told = strings.ReplaceAll(told, "ran-copilot-hook\n", "") // by the protocol Copilot trusts the base's hooks, which run in the sandbox
	// What the branch changed is removed, so that no CLI reads it.
	if !strings.Contains(told, "README.md") || strings.Contains(told, "BASE-") || strings.Contains(told, "HEAD-") || strings.Contains(told, "ran-") {
		t.Errorf("in the tree were:\n%s", told)
	}
}

// A server that the workflow names starts as the base branch has it, as the user who
// works in the sandbox; the others of its file do not. It reaches the hosts of the
// allow list: one that is on it does not answer (502), another is refused (403).
func TestAgentsStartNamedServers(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	for name, level := range map[string]string{"claude": "namespace", "codex": "notify", "copilot": "namespace"} {
		input := realInputs[name]
		t.Run(name+" "+level, func(t *testing.T) {
			server := modeltest.Start(t,
				modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("until [ -e ran-mcp ]; do sleep 0.1; done; cat ran-* > told.txt; ls >> told.txt; git add told.txt; git commit -qm 'feat: told'")}},
				modeltest.Answer{Words: "Done."})
			told := toldIn(t, name, "INPUT_"+input+"-API-KEY="+agentKey, "INPUT_MODEL-BASE-URL="+server.URL,
				"SET_github.mcpConfig=.mcp.json m", "INPUT_ALLOW-DOMAINS=files.example.com", "INPUT_SANDBOX="+level)
			told = strings.ReplaceAll(told, "ran-copilot-hook\n", "") // as above
			if !strings.HasPrefix(told, "BASE-server 1500\n502\n403\n") || strings.Count(told, "ran-") != 1 {
				t.Errorf("what ran:\n%s", told)
			}
		})
	}
}

// toldIn has an agent work on in a branch whose files tell agents something else than
// the base's, and gives the told.txt that it leaves.
func toldIn(t *testing.T, name string, more ...string) string {
	t.Helper()
	const branch = "ralph/issue-1-greet-people-by-name-in-their-language"
	hub, issue := reachableGitHub(t)
	for _, whose := range []struct{ mark, branch string }{{"BASE-", "main"}, {"HEAD-", branch}} {
		clone := hub.path("clone-" + whose.mark)
		if _, err := tryGit(t.Context(), hub.dir, "clone", "-q", hub.bare(), clone); err != nil {
			t.Fatal(err)
		}
		for _, file := range txtar.Parse([]byte(governing)).Files {
			if err := write(filepath.Join(clone, file.Name), []byte(strings.ReplaceAll(string(file.Data), "WHOSE-", whose.mark))); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-qm", "more files"}, {"push", "-q", "origin", "HEAD:refs/heads/" + whose.branch}} {
			if _, err := tryGit(t.Context(), clone, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	said, err := hub.act(t, issue, name, more...)
	told, missing := hub.git("show", branch+":told.txt")
	if err != nil || missing != nil {
		t.Errorf("%v, %v\n%s", err, missing, said)
	}
	return told
}
