package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

func TestPreferredAreAllRealAgents(t *testing.T) {
	want := slices.DeleteFunc(agent.Names(), func(name string) bool { return name == "acp" || name == "command" || name == "scripted" })
	if got := slices.Sorted(slices.Values(agent.Preferred)); !slices.Equal(got, want) {
		t.Errorf("Preferred = %q, want %q in any order", got, want)
	}
}

// Where nothing names an agent, it is one that is installed and can log in.
func TestFindDefault(t *testing.T) {
	const noClaude, noAccess = "claude is not installed", "claude has no key or login"
	for name, test := range map[string]struct {
		programs []string
		env      []string
		file     string // in the home
		text     string
		want     agent.Default
	}{
		"nothing":              {want: agent.Default{Name: "claude"}},
		"no login at all":      {programs: []string{"claude", "codex"}, want: agent.Default{"claude", true, ""}},
		"only Codex":           {programs: []string{"codex"}, want: agent.Default{"codex", true, noClaude}},
		"only a key for Codex": {programs: []string{"claude", "codex"}, env: []string{"CODEX_API_KEY=k"}, want: agent.Default{"codex", true, noAccess}},
		"a key for opencode": {
			programs: []string{"codex", "opencode"}, env: []string{"OPENAI_API_KEY=k"},
			want: agent.Default{"opencode", true, noClaude + ", codex has no key or login, gemini is not installed"},
		},
		"a login of Codex": {
			programs: []string{"claude", "codex"}, file: ".codex/auth.json", text: "{}", want: agent.Default{"codex", true, noAccess},
		},
		"a login of Claude": {
			programs: []string{"claude", "codex"}, env: []string{"CODEX_API_KEY=k"}, file: ".claude/.credentials.json", text: "{}",
			want: agent.Default{"claude", true, ""},
		},
		"a login in a keychain": {
			programs: []string{"claude", "codex"}, env: []string{"CODEX_API_KEY=k"}, file: ".claude.json", text: `{"oauthAccount": {"x": 1}}`,
			want: agent.Default{"claude", true, ""},
		},
		"a first start": {
			programs: []string{"claude", "codex"}, env: []string{"CODEX_API_KEY=k"}, file: ".claude.json", text: `{"numStartups": 1}`,
			want: agent.Default{"codex", true, noAccess},
		},
		"a server of its own": {
			programs: []string{"claude", "codex"}, env: []string{"CODEX_API_KEY=k"}, file: ".claude/settings.json", text: `{"apiKeyHelper": "x"}`,
			want: agent.Default{"claude", true, ""},
		},
		"a login of Copilot": {
			programs: []string{"gemini", "copilot"}, file: ".copilot/config.json", text: `{"lastLoggedInUser": {"login": "ada"}}`,
			want: agent.Default{"copilot", true, noClaude + ", codex is not installed, gemini has no key or login, opencode is not installed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			bin := filepath.Join(home, "bin")
			err := os.Mkdir(bin, 0o700)
			for _, program := range test.programs {
				err = errors.Join(err, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o700))
			}
			if test.file != "" {
				path := filepath.Join(home, test.file)
				err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(test.text), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			env := []string{"HOME=" + home, "PATH=" + bin}
			for _, variable := range test.env {
				env = append(env, strings.ReplaceAll(variable, "HOME/", home+"/"))
			}
			if got := agent.FindDefault(env, home); got != test.want {
				t.Errorf("FindDefault = %+v, want %+v", got, test.want)
			}
		})
	}
}
