package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Claude Code prints the output with which a message began, and notes all of it in the session's files.
func TestClaudeCountsTheOutput(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "projects", "-work", "s7.jsonl")
	sub := filepath.Join(home, "projects", "-work", "s7", "subagents", "agent-1.jsonl")
	meta := filepath.Join(filepath.Dir(sub), "agent-1.meta.json")
	other := filepath.Join(home, "projects", "-other", "s6.jsonl")
	moved := filepath.Join(home, "projects", "-work-worktree", "s7.jsonl")
	adapter, err := agent.Pick("claude", agent.Options{})
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(sub), 0o700), os.MkdirAll(filepath.Dir(other), 0o700)); err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{Env: []string{"CLAUDE_CONFIG_DIR=" + home}}).(follower)
	message := func(id, model string, output int) string {
		return fmt.Sprintf(`"message":{"id":%q,"model":%q,"usage":{"input_tokens":0,"output_tokens":%d}}}`, id, model, output)
	}
	prints := func(parent, id, model string) func() []stream.Item {
		return func() []stream.Item {
			return decoder.Line([]byte(`{"type":"assistant","parent_tool_use_id":` + parent + `,` + message(id, model, 1)))
		}
	}
	notes := func(path, side, id, model string, output int) func() []stream.Item {
		return func() []stream.Item {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString(`{"type":"assistant","isSidechain":` + side + `,` + message(id, model, output) + "\n")
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			return decoder.Follow()
		}
	}
	const opus, haiku = "claude-opus-5", "claude-haiku-4-5"
	decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
	for i, step := range []struct {
		do     func() []stream.Item
		output int64 // 0: nothing new
		usd    float64
	}{
		{notes(other, "false", "m1", opus, 500_000), 0, 0},
		{prints("null", "m1", opus), 1, 0.000025},
		{notes(file, "false", "m0", opus, 500_000), 0, 0}, // of a session that goes on
		{notes(file, "false", "m1", opus, 100_000), 100_000, 2.5},
		{prints("null", "m1", opus), 0, 0},
		{notes(sub, "true", "m2", haiku, 200_000), 0, 0}, // not printed yet
		{prints(`"t"`, "m2", haiku), 300_000, 3.5},
		{notes(sub, "true", "m2", haiku, 1), 0, 0},
		{func() []stream.Item { return replace(t, meta, decoder) }, 0, 0},
		{func() []stream.Item { return cut(t, file, decoder) }, 300_000, 3.5},
		{prints("null", "m3", opus), 300_001, 3.500025},
		{notes(file, "false", "m3", opus, 100_000), 400_000, 6}, // of a file that an agent made shorter
		{func() []stream.Item { return rename(t, file, moved, decoder) }, 400_000, 6},
		{prints("null", "m4", opus), 400_001, 6.000025},
		{notes(moved, "false", "m4", opus, 100_000), 500_000, 8.5},
	} {
		var got stream.Spent
		for _, item := range step.do() {
			got, _ = item.(stream.Spent)
		}
		want := stream.Spent{Usage: stream.Usage{Output: step.output}, Cost: stream.Cost{USD: step.usd, Known: step.output > 0}}
		if got.Boundless != (i > 8) {
			t.Errorf("step %d has no bound: %t", i, got.Boundless)
		}
		if diff := got.Cost.USD - want.Cost.USD; got.Usage != want.Usage || diff > 1e-9 || diff < -1e-9 || got.Cost.Known != want.Cost.Known {
			t.Errorf("step %d: %+v, want %+v", i, got, want)
		}
	}
}

func rename(t *testing.T, from, to string, decoder follower) []stream.Item {
	t.Helper()
	if err := errors.Join(os.Mkdir(filepath.Dir(to), 0o700), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
	return decoder.Follow()
}

// replace writes Claude Code's note about a sub-agent, which is a new file when the sub-agent ends.
func replace(t *testing.T, path string, decoder follower) []stream.Item {
	t.Helper()
	said := []stream.Item{}
	for range 2 {
		if err := errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
		said = append(said, decoder.Follow()...)
	}
	return said
}

func cut(t *testing.T, file string, decoder follower) []stream.Item {
	t.Helper()
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	return decoder.Follow()
}

// More files than are read could hold the usage of any number of sub-agents: then no limit in dollars holds any more.
func TestManySubAgents(t *testing.T) {
	home := t.TempDir()
	session := filepath.Join(home, "projects", "-work", "s7")
	adapter, err := agent.Pick("claude", agent.Options{})
	err = errors.Join(err, os.MkdirAll(filepath.Join(session, "subagents"), 0o700), os.WriteFile(session+".jsonl", nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{Env: []string{"CLAUDE_CONFIG_DIR=" + home}}).(follower)
	decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(session, "subagents", fmt.Sprintf("agent-%d.jsonl", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if said := i > 997 && len(decoder.Follow())+len(decoder.Follow()) > 0; said != (i == 999) { // with the session's own
			t.Errorf("%d files are not all read: %t", i+1, said)
		}
	}
}

// Nor where an agent could not write a session, as a command can bring about, also for later turns.
func TestSessionsThatCannotBeWritten(t *testing.T) {
	chmod := func(mode os.FileMode) func(string) error {
		return func(path string) error { return os.Chmod(path, mode) }
	}
	toFile := func(path string) error { return errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o700)) }
	const project, session = "projects/-w-x", "projects/-w-x/s7.jsonl"
	for name, test := range map[string]struct {
		agent, path string
		change      func(string) error
		there, want bool // the session's file, and that there is no bound
	}{
		"claude, a new session":            {"claude", project, chmod(0o700), false, false},
		"claude, all closed":               {"claude", "projects", chmod(0), false, true},
		"claude, all closed later":         {"claude", "projects", chmod(0), true, true},
		"claude, all kept":                 {"claude", "projects", chmod(0o500), false, true},
		"claude, a file":                   {"claude", "projects", toFile, false, true},
		"claude, a project closed":         {"claude", project, chmod(0o500), false, true},
		"claude, a project that is a file": {"claude", project, toFile, false, true},
		"claude, a stray file":             {"claude", "projects/.DS_Store", toFile, false, false},
		"claude, no files of sub-agents":   {"claude", project + "/s7", toFile, true, true},
		"claude, a session closed":         {"claude", session, chmod(0o400), true, true},
		"codex, a new thread":              {"codex", "sessions/2026", chmod(0o700), false, false},
		"codex, a file":                    {"codex", "sessions", toFile, false, true},
		"codex, a day closed":              {"codex", "sessions/2026/11/21", chmod(0o500), false, true},
		"claude, another project closed":   {"claude", "projects/-other", chmod(0o500), false, false},
		"codex, an old year closed":        {"codex", "sessions/2001", chmod(0o500), false, false},
		"codex, a month closed later":      {"codex", "sessions/2026/11", chmod(0), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			thread := filepath.Join(home, "sessions/2026/11/21/rollout-10-s7.jsonl")
			err := errors.Join(os.MkdirAll(filepath.Join(home, project), 0o700), os.MkdirAll(filepath.Dir(thread), 0o700), os.MkdirAll(filepath.Join(home, strings.TrimSuffix(test.path, "/s7.jsonl")), 0o700))
			if test.there {
				err = errors.Join(err, os.WriteFile(filepath.Join(home, session), nil, 0o600), os.WriteFile(thread, nil, 0o600))
			}
			adapter, failed := agent.Pick(test.agent, agent.Options{})
			if err = errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			decoder := adapter.Decoder(agent.Order{Dir: "/w/x", Began: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Env: []string{"CLAUDE_CONFIG_DIR=" + home, "CODEX_HOME=" + home}}).(follower)
			decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
			decoder.Line([]byte(`{"type":"thread.started","thread_id":"s7"}`))
			items := decoder.Follow()
			path := filepath.Join(home, test.path)
			if err := test.change(path); err != nil {
				t.Fatal(err)
			}
			items = append(append(items, decoder.Follow()...), decoder.Follow()...)
			if err := os.Chmod(path, 0o700); err != nil { // else it stays
				t.Fatal(err)
			}
			if len(items) > 0 != test.want || test.want && !items[0].(stream.Spent).Boundless {
				t.Errorf("%+v is told, want that there is no bound: %t", items, test.want)
			}
		})
	}
}
