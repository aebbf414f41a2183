package driver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

// What a CLI prints of its usage counts, so its commands cannot open its output. A user's own program can open its.
func TestOnlyTheAgentWritesItsOutput(t *testing.T) {
	const say = `{"type":"result","result":"so","usage":{"input_tokens":%s}}`
	script := filepath.Join(t.TempDir(), "agent")
	text := "echo '" + fmt.Sprintf(say, "5") + "'\nsh -c 'echo \"$0\" >>/proc/$PPID/fd/1' '" + fmt.Sprintf(say, "1") + "'\nexit 0\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string]int{"claude": 1, "command": 2} {
		s := agenttest.New(t, name, agent.Options{Command: "sh " + script})
		s.Env = append(s.Env, "PATH=/usr/bin:/bin")
		ended, err := s.Do(t.Context(), order)
		text := ""
		for _, transcript := range s.Kept {
			text += transcript.String()
		}
		if err != nil || ended.Failed || strings.Count(text, `"so"`) != lines {
			t.Errorf("%s: %q, %v, its output is %q, want %d lines", name, ended.Why, err, text, lines)
		}
	}
}
