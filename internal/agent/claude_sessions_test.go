package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

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
		{func() []stream.Item { return cut(t, file, decoder) }, 0, 0},
		{prints("null", "m3", opus), 300_001, 3.500025},
		{notes(file, "false", "m3", opus, 100_000), 400_000, 6}, // of a file that an agent made shorter
		{func() []stream.Item { return rename(t, file, moved, decoder) }, 0, 0},
		{prints("null", "m4", opus), 400_001, 6.000025},
		{notes(moved, "false", "m4", opus, 100_000), 500_000, 8.5},
	} {
		var got stream.Spent
		for _, item := range step.do() {
			got, _ = item.(stream.Spent)
		}
		want := stream.Spent{Usage: stream.Usage{Output: step.output}, Cost: stream.Cost{USD: step.usd, Known: step.output > 0}}
		if got.Boundless {
			t.Errorf("step %d has no bound", i)
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

// Where an agent's files tell nothing of what it prints, no limit in dollars holds: they may be closed, full, elsewhere,
// removed, switched off or more than are read.
func TestSilentSessions(t *testing.T) {
	lines := map[string][2]string{ // what is printed, and noted
		"claude": {
			`{"type":"assistant","message":{"id":"m%d","model":"claude-opus-5","usage":{"output_tokens":1}}}`,
			`{"type":"assistant","message":{"id":"m%d","model":"claude-opus-5","usage":{"output_tokens":1}}}` + "\n",
		},
		"codex": {
			`{"type":"item.started","item":{"id":"i%d","type":"command_execution","command":"ls"}}`,
			`{"id":"s7","payload":{"id":"i%d"}}` + "\n",
		},
	}
	type step struct{ printed, noted, reads int }
	for name, test := range map[string]struct {
		steps []step
		files int // besides
		want  bool
	}{
		"nothing is printed":         {steps: []step{{0, 0, 9}}},
		"nothing is noted":           {steps: []step{{3, 0, 5}}, want: true},
		"soon":                       {steps: []step{{3, 0, 4}}},
		"two messages":               {steps: []step{{2, 0, 9}}},
		"all is noted":               {steps: []step{{3, 1, 9}, {3, 1, 9}}},
		"in the end":                 {steps: []step{{3, 0, 4}, {0, 1, 9}}},
		"no longer":                  {steps: []step{{3, 1, 1}, {3, 0, 5}}, want: true},
		"with as many as are read":   {steps: []step{{3, 1, 9}}, files: 999},
		"with more than can be read": {steps: []step{{3, 1, 9}}, files: 1000, want: true},
	} {
		for agentName, line := range lines {
			t.Run(agentName+", "+name, func(t *testing.T) {
				home := t.TempDir()
				file := map[string]string{"claude": filepath.Join(home, "projects/-w/s7.jsonl"), "codex": filepath.Join(home, "sessions/2026/11/21/rollout-10-s7.jsonl")}[agentName]
				others := map[string]string{"claude": filepath.Join(home, "projects/-w/s7/subagents"), "codex": filepath.Dir(file)}[agentName]
				adapter, err := agent.Pick(agentName, agent.Options{})
				if err = errors.Join(err, os.MkdirAll(others, 0o700)); err != nil {
					t.Fatal(err)
				}
				for i := range test.files {
					if err := os.WriteFile(filepath.Join(others, fmt.Sprintf("rollout-20-%d.jsonl", i)), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				decoder := adapter.Decoder(agent.Order{Dir: filepath.Dir(home), Env: []string{"CLAUDE_CONFIG_DIR=" + filepath.Base(home), "CODEX_HOME=" + filepath.Base(home)}}).(follower)
				decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
				decoder.Line([]byte(`{"type":"thread.started","thread_id":"s7"}`))
				boundless := false
				for n, step := range test.steps {
					for i := range step.printed {
						decoder.Line(fmt.Appendf(nil, line[0], 10*n+i))
					}
					f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
					if err != nil {
						t.Fatal(err)
					}
					for i := range step.noted {
						_, err = fmt.Fprintf(f, line[1], 10*n+i)
					}
					if err = errors.Join(err, f.Close()); err != nil {
						t.Fatal(err)
					}
					for range step.reads {
						for _, item := range decoder.Follow() {
							boundless = boundless || item.(stream.Spent).Boundless
						}
					}
				}
				if boundless != test.want {
					t.Errorf("there is no bound: %t", boundless)
				}
			})
		}
	}
}

// An agent that was killed while its files told nothing used more than is known.
func TestSilentSessionsThatAreKilled(t *testing.T) {
	for printed, want := range map[int]int{2: 0, 3: 1} {
		for _, name := range []string{"claude", "codex"} {
			adapter, err := agent.Pick(name, agent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			decoder := adapter.Decoder(agent.Order{Env: []string{"HOME=" + t.TempDir()}})
			decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7"}`))
			decoder.Line([]byte(`{"type":"thread.started","thread_id":"s7"}`))
			for range printed {
				decoder.Line([]byte(`{"type":"assistant","message":{"id":"m1","model":"claude-opus-5"}}`))
				decoder.Line([]byte(`{"type":"item.completed","item":{"type":"agent_message","text":"x"}}`))
			}
			boundless := 0
			for _, item := range decoder.End() {
				if spent, ok := item.(stream.Spent); ok && spent.Boundless {
					boundless++
				}
			}
			if boundless != want {
				t.Errorf("%s: %d messages: %d items say that there is no bound, want %d", name, printed, boundless, want)
			}
		}
	}
}
