package main_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// agentKey is what the model server must get, and what must not be written
// down.
const agentKey = "sk-a-key-of-the-real-tests-51d0"

// realAgent is a CLI as npm puts it into tools/agents.
type realAgent struct {
	model     string
	key, base string            // the variables from which a laptop's ralph takes key and server
	home      map[string]string // files of its user's; SERVER stands for the server
	blind     bool              // it never says what it uses
}

var realAgents = map[string]realAgent{
	"claude":  {model: "claude-sonnet-4-6", key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL"},
	"codex":   {model: "gpt-6.2-sol", key: "CODEX_API_KEY", base: "OPENAI_BASE_URL"},
	"copilot": {model: "gpt-5.1", key: "COPILOT_PROVIDER_API_KEY", base: "COPILOT_PROVIDER_BASE_URL", blind: true},
	"gemini": {
		model: "gemini-2.5-pro", key: "GEMINI_API_KEY", base: "GOOGLE_GEMINI_BASE_URL", blind: true,
		home: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
	},
	"opencode": {
		model: "anthropic/claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", base: "UNUSED", blind: true,
		home: map[string]string{".config/opencode/opencode.json": `{"provider":{"anthropic":{"options":{"baseURL":"SERVER/v1"}}}}`},
	},
}

// laptop is a person's machine with a project on it and a real agent.
type laptop struct {
	realAgent
	t      *testing.T
	dir    string // of all of it
	server *modeltest.Server
	env    []string
	argv   []string
	said   *os.File
}

// eachAgent runs a test with every real CLI. Like those of internal/agent/agent,
// these do nothing until AGENTS is set, as `make agents` does.
func eachAgent(t *testing.T, settings string, test func(l *laptop), script ...modeltest.Answer) {
	t.Helper()
	if os.Getenv("AGENTS") == "" {
		return
	}
	for name := range realAgents {
		t.Run(name, func(t *testing.T) { test(newLaptop(t, name, settings, script)) })
	}
}

func newLaptop(t *testing.T, name, settings string, script []modeltest.Answer) *laptop {
	t.Helper()
	l := &laptop{t: t, dir: t.TempDir(), server: modeltest.Start(t, script...)}
	l.realAgent = realAgents[name]
	program, err := filepath.Abs("../../tools/agents/node_modules/.bin/" + name)
	if err == nil {
		err = write(l.path("work", ".ralph", "settings.json"), []byte(settings))
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(l.path("home"), 0o755), os.MkdirAll(l.path("tmp"), 0o755))
	}
	for file, text := range l.home {
		err = errors.Join(err, write(l.path("home", file), []byte(strings.ReplaceAll(text, "SERVER", l.server.URL))))
	}
	if err == nil {
		l.said, err = os.Create(l.path("said"))
	}
	if err != nil {
		t.Fatal(err)
	}
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.path("home"), "TMPDIR=" + l.path("tmp"), "LANG=C.UTF-8", quickExit, unconfined,
		l.key + "=" + agentKey, l.base + "=" + l.server.URL,
	}
	l.argv = []string{"run", "-p", "Write hello.txt, as the real tests ask.", "--agent", name, "--agent-command", "'" + program + "'", "--model", l.model}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("ralph said:\n%s", l.text())
		}
		_ = l.said.Close()
	})
	return l
}

func (l *laptop) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

// text returns what ralph has printed so far.
func (l *laptop) text() string {
	text, _ := os.ReadFile(l.said.Name())
	return string(text)
}

// start lets ralph run there.
func (l *laptop) start(more ...string) *exec.Cmd {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "ralph", append(l.argv, more...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.path("work"), l.env, l.said, l.said
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	return cmd
}

// ended returns the agent's runs in the journal.
func (l *laptop) ended() (all []journal.AgentEnded) {
	l.t.Helper()
	paths, _ := filepath.Glob(l.path("work", ".ralph", "runs", "*", "journal.jsonl"))
	if len(paths) != 1 {
		l.t.Fatalf("journals %q, want one", paths)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		l.t.Fatal(err)
	}
	entries, _, err := journal.Replay(data)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, entry := range entries {
		if event, is := entry.Event.(journal.AgentEnded); is {
			all = append(all, event)
		}
	}
	return all
}

// quiet fails where ralph printed the key or wrote it down.
func (l *laptop) quiet() {
	l.t.Helper()
	paths := []string{l.said.Name()}
	err := filepath.WalkDir(l.path("work"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte(agentKey)) {
			l.t.Errorf("%s holds the key, or cannot be read: %v", path, err)
		}
	}
}
