package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
// removed, switched off or more than are read. An honest agent may print long after it wrote, or write late.
func TestSilentSessions(t *testing.T) {
	type step struct{ printed, noted, reads int } // items that are printed and noted, and how often files are read after that
	for name, test := range map[string]struct {
		claude, codex         []step
		files                 int // besides
		wantClaude, wantCodex bool
	}{
		"nothing is printed":    {claude: []step{{0, 0, 99}}, codex: []step{{0, 0, 99}}},
		"nothing is noted":      {claude: []step{{3, 0, 41}}, codex: []step{{10, 0, 11}}, wantClaude: true, wantCodex: true},
		"too few to tell":       {claude: []step{{2, 0, 99}}, codex: []step{{9, 0, 99}}},
		"it is soon":            {claude: []step{{3, 0, 40}}, codex: []step{{10, 0, 10}}},
		"all is noted":          {claude: []step{{3, 3, 99}, {3, 3, 99}}, codex: []step{{20, 1, 99}, {20, 1, 99}}},
		"noted first":           {claude: []step{{0, 3, 9}, {3, 0, 99}}, codex: []step{{0, 1, 10}, {20, 0, 99}}},
		"noted late":            {claude: []step{{3, 0, 40}, {0, 3, 99}}, codex: []step{{20, 0, 10}, {0, 1, 99}}},
		"many are not":          {claude: []step{{30, 0, 5}}, wantClaude: true},
		"noted no longer":       {claude: []step{{3, 3, 1}, {3, 0, 41}}, codex: []step{{20, 1, 20}, {10, 0, 11}}, wantClaude: true, wantCodex: true},
		"some are not":          {claude: []step{{6, 3, 41}, {9, 9, 1}}, wantClaude: true},
		"as many files as fit":  {claude: []step{{3, 3, 41}}, codex: []step{{20, 1, 11}}, files: 999},
		"more than can be read": {claude: []step{{3, 3, 41}}, codex: []step{{20, 1, 11}}, files: 1000, wantClaude: true, wantCodex: true},
	} {
		t.Run(name, func(t *testing.T) {
			for agentName, steps := range map[string][]step{"claude": test.claude, "codex": test.codex} {
				s := newSession(t, agentName, test.files)
				printed, noted, boundless := 0, 0, false
				for _, step := range steps {
					for range step.printed {
						printed++
						s.decoder.Line([]byte(s.printed(printed)))
					}
					for range step.noted {
						noted++
						s.note(t, noted)
					}
					for range step.reads {
						boundless = isBoundless(s.decoder.Follow()) || boundless
					}
				}
				if want := map[string]bool{"claude": test.wantClaude, "codex": test.wantCodex}[agentName]; boundless != want {
					t.Errorf("%s: there is no bound: %t", agentName, boundless)
				}
			}
		})
	}
}

// Claude Code's own messages use nothing, and the files of a Docker sandbox come late.
func TestSilenceThatSaysNothing(t *testing.T) {
	for name, test := range map[string]struct {
		options agent.Options
		model   string
		want    bool
	}{
		"a model":              {model: "claude-opus-5", want: true},
		"no model":             {model: "<synthetic>"},
		"from another machine": {options: agent.Options{Docker: &agent.Docker{State: t.TempDir()}}, model: "claude-opus-5"},
	} {
		adapter, err := agent.Pick("claude", test.options)
		if err != nil {
			t.Fatal(err)
		}
		decoder := adapter.Decoder(agent.Order{Env: []string{"CLAUDE_CONFIG_DIR=" + t.TempDir()}}).(follower)
		decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
		for i := range 3 {
			decoder.Line(fmt.Appendf(nil, `{"type":"assistant","message":{"id":"m%d","model":%q}}`, i, test.model))
		}
		boundless := false
		for range 41 {
			boundless = isBoundless(decoder.Follow()) || boundless
		}
		if boundless != test.want {
			t.Errorf("%s: there is no bound: %t", name, boundless)
		}
	}
}

// An agent that was killed while its files told nothing used more than is known. Claude Code may just not have written yet.
func TestSilentSessionsThatAreKilled(t *testing.T) {
	soon := newSession(t, "claude", 0)
	for i := range 3 {
		soon.decoder.Line([]byte(soon.printed(i)))
	}
	if isBoundless(soon.decoder.End()) {
		t.Error("killed at once: there is no bound")
	}
	for name, enough := range map[string]int{"claude": 3, "codex": 10} {
		for _, missing := range []int{0, 1} {
			s := newSession(t, name, 0)
			for i := range enough - missing {
				s.decoder.Line([]byte(s.printed(i)))
			}
			for range 4 {
				s.decoder.Follow()
			}
			if got := isBoundless(s.decoder.End()); got != (missing == 0) {
				t.Errorf("%s, %d fewer than enough: there is no bound: %t", name, missing, got)
			}
		}
	}
}

type session struct {
	decoder follower
	file    string
	isCodex bool
}

func newSession(t *testing.T, name string, files int) session {
	t.Helper()
	home := t.TempDir()
	s := session{isCodex: name == "codex", file: filepath.Join(home, "projects/-w/s7.jsonl")}
	others := filepath.Join(home, "projects/-w/s7/subagents")
	if s.isCodex {
		s.file = filepath.Join(home, "sessions/2026/11/21/rollout-10-s7.jsonl")
		others = filepath.Dir(s.file)
	}
	adapter, err := agent.Pick(name, agent.Options{})
	if err = errors.Join(err, os.MkdirAll(others, 0o700), os.WriteFile(s.file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(others, fmt.Sprintf("rollout-20-%d-s7.jsonl", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Both take a relative folder in the one where they work.
	s.decoder = adapter.Decoder(agent.Order{Dir: filepath.Dir(home), Env: []string{"CLAUDE_CONFIG_DIR=" + filepath.Base(home), "CODEX_HOME=" + filepath.Base(home)}}).(follower)
	s.decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7","model":"claude-opus-5"}`))
	s.decoder.Line([]byte(`{"type":"thread.started","thread_id":"s7"}`))
	return s
}

func (s session) printed(i int) string {
	if s.isCodex {
		return fmt.Sprintf(`{"type":"item.started","item":{"id":"i%d","type":"command_execution","command":"ls"}}`, i)
	}
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m%d","model":"claude-opus-5","usage":{"output_tokens":1}}}`, i)
}

func (s session) note(t *testing.T, i int) {
	t.Helper()
	text := s.printed(i)
	if s.isCodex {
		text = fmt.Sprintf(`{"id":"s7","payload":{"id":"i%d"}}`, i)
	}
	f, err := os.OpenFile(s.file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func isBoundless(items []stream.Item) bool {
	return slices.ContainsFunc(items, func(item stream.Item) bool {
		spent, is := item.(stream.Spent)
		return is && spent.Boundless
	})
}
