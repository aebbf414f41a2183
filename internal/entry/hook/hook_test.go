package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/hook"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// house has the environment of hooks with a project, and a clock that advances by itself.
type house struct {
	hook.Environment
	*testing.T
	dir string
	now time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, dir: t.TempDir(), now: noon}
	h.Environment = hook.Environment{
		Env: func(string) string { return "" },
		Now: func() time.Time {
			h.now = h.now.Add(time.Second)
			return h.now
		},
		Pause:    func(time.Duration) {},
		State:    filepath.Join(h.dir, "state"),
		Settings: func(string) ([]string, error) { return nil, nil },
		Dirty:    func(context.Context, string) ([]string, error) { return nil, nil },
		Checks:   func(string) ([]policy.Check, error) { return nil, nil },
	}
	return h
}

// tell calls a hook with an input, and returns its answer.
func (h *house) tell(name string, fields map[string]any) string {
	h.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		h.Fatal(err)
	}
	return h.answer(name, data)
}

func (h *house) answer(name string, stdin []byte) string {
	var out bytes.Buffer
	h.Serve(h.Context(), name, bytes.NewReader(stdin), &out)
	return out.String()
}

func (h *house) write(name, text string) string {
	h.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
	return path
}

func (h *house) loop() {
	h.Helper()
	_, err := h.Start(hook.LoopRequest{Session: "s", Dir: h.dir, Task: "x", ApplyTo: func(p policy.Policy) policy.Policy { return p }})
	if err != nil {
		h.Fatal(err)
	}
}

// The recorded inputs of a real session: no call is refused, and the session may end.
func TestRecordings(t *testing.T) {
	lines, err := os.ReadFile("testdata/events.hooks.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t)
	names := map[string]string{
		"S_SessionStart": hook.SessionStart, "S_PreToolUse": hook.PreToolUse, "S_PostToolUse": hook.PostToolUse, "S_Stop": hook.Stop,
	}
	seen := 0
	for line := range bytes.Lines(lines) {
		var event struct {
			Label string
			Stdin json.RawMessage
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		name, known := names[event.Label]
		if !known {
			continue
		}
		seen++
		if out := h.answer(name, event.Stdin); out != "" {
			t.Errorf("%s answered %s", name, out)
		}
	}
	if seen != len(names) {
		t.Errorf("%d of %d hooks were recorded", seen, len(names))
	}
}

func transcriptLine(at time.Time, content string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"model":"m","content":[%s]}}`+"\n", at.Format(time.RFC3339), content)
}

// The agent can write its transcript late: the hook waits for the tool calls of an
// iteration, and does not judge a promise twice.
func TestLateTranscript(t *testing.T) {
	h := newHouse(t)
	h.loop()
	path := h.write("t.jsonl", "")
	early := transcriptLine(h.now.Add(time.Hour), `{"type":"tool_use","id":"a","name":"Bash"}`) +
		transcriptLine(h.now.Add(time.Hour), `{"type":"text","text":"<promise>DONE</promise>"}`)
	waits := 0
	h.Pause = func(time.Duration) {
		if waits++; waits == 3 {
			h.write("t.jsonl", early)
		}
	}
	stop := map[string]any{"session_id": "s", "transcript_path": path, "last_assistant_message": "<promise>DONE</promise>"}
	if out := h.tell(hook.Stop, stop); !strings.Contains(out, "PROMISE_ACCEPTED") || waits != 3 {
		t.Errorf("after %d waits: %s", waits, out)
	}

	h = newHouse(t)
	h.loop()
	path = h.write("t.jsonl", "")
	stop["transcript_path"] = path
	if out := h.tell(hook.Stop, stop); !strings.Contains(out, "Promise detected, but no tool calls") {
		t.Errorf("a promise without work: %s", out)
	}
	// The transcript gets older text only now.
	h.write("t.jsonl", transcriptLine(noon.Add(3*time.Second), `{"type":"text","text":"<promise>DONE</promise>"}`)+
		transcriptLine(h.now.Add(time.Hour), `{"type":"tool_use","id":"a","name":"Bash"}`)+
		transcriptLine(h.now.Add(time.Hour), `{"type":"text","text":"I am done."}`))
	stop["last_assistant_message"] = "I am done."
	if out := h.tell(hook.Stop, stop); !strings.Contains(out, "You attempted to end the loop") {
		t.Errorf("a promise that was rejected came twice: %s", out)
	}
}

// The newest count of the model is found after lines of any length, but not before a
// compaction.
func TestUsageBehindLongLines(t *testing.T) {
	const usage = `{"type":"assistant","message":{"model":"m","usage":{"input_tokens":150000}}}` + "\n"
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", 2<<20) + `"}}` + "\n"
	for name, test := range map[string]struct{ transcript, want string }{
		"plain":     {usage, "150000 of"},
		"behind":    {usage + long + long, "150000 of"},
		"pictures":  {usage + strings.Repeat(long, 6), "150000 of"},
		"compacted": {usage + `{"type":"system","subtype":"compact_boundary"}` + "\n", ""},
		"odd usage": {`{"type":"assistant","message":{"usage":{"input_tokens":-5,"cache_read_input_tokens":120000}}}` + "\n", "120000 of"},
		"no line":   {strings.Repeat(" ", 600_000), "estimated"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			out := h.tell(hook.PostToolUse, map[string]any{"session_id": "s", "transcript_path": h.write("t.jsonl", test.transcript)})
			if !strings.Contains(out, test.want) || test.want == "" && out != "" {
				t.Errorf("got %q, want %q", out, test.want)
			}
		})
	}
}

// After checks that were interrupted, as by the time limit of the hook, the agent makes its promise again. They get less
// time than the hook.
func TestInterruptedChecks(t *testing.T) {
	h := newHouse(t)
	h.Checks = func(string) ([]policy.Check, error) {
		return policy.NewChecks([]string{"make test"}, policy.Duration(time.Hour)), nil
	}
	h.Veil = redact.Values().Writer
	h.loop()
	transcript := ""
	stop := func() string {
		transcript += transcriptLine(h.now.Add(time.Hour), `{"type":"tool_use","id":"t","name":"Bash","input":{}},{"type":"text","text":"<promise>DONE</promise>"}`)
		path := h.write("t.jsonl", transcript)
		return h.tell(hook.Stop, map[string]any{"session_id": "s", "transcript_path": path, "last_assistant_message": "<promise>DONE</promise>"})
	}
	h.RunCheck = func(context.Context, process.Command) (process.Result, error) { panic("killed") }
	stop()
	limit := time.Duration(0)
	h.RunCheck = func(_ context.Context, command process.Command) (process.Result, error) {
		limit = command.Timeout
		return process.Result{}, nil
	}
	if told := stop(); !strings.Contains(told, "PROMISE_ACCEPTED") {
		t.Errorf("the next promise: %s", told)
	}
	if limit <= 0 || limit > hook.MaxChecks {
		t.Errorf("a check may take %s", limit)
	}
	var plugin struct {
		Hooks map[string][]struct{ Hooks []struct{ Timeout int } }
	}
	text, err := os.ReadFile("../../../plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &plugin); err != nil {
		t.Fatal(err)
	}
	got := time.Duration(plugin.Hooks["Stop"][0].Hooks[0].Timeout) * time.Second
	if got < hook.MaxChecks+30*time.Second {
		t.Errorf("the plugin's stop hook may take %s, its checks %s", got, hook.MaxChecks)
	}
}

// A journal that was removed or emptied ends the loop: the hook would write verdicts about nothing without end.
func TestJournalIsGone(t *testing.T) {
	for name, harm := range map[string]func(string) error{"removed": os.Remove, "emptied": func(path string) error { return os.Truncate(path, 0) }} {
		h := newHouse(t)
		h.loop()
		journals, err := filepath.Glob(filepath.Join(h.dir, ".ralph/runs/*/journal.jsonl"))
		if err != nil || len(journals) != 1 {
			t.Fatalf("journals %q, %v", journals, err)
		}
		if err := harm(journals[0]); err != nil {
			t.Fatal(err)
		}
		in := map[string]any{"session_id": "s", "transcript_path": h.write("t.jsonl", ""), "last_assistant_message": "x"}
		if told := h.tell(hook.Stop, in); !strings.Contains(told, "the loop ends because its journal cannot be used") {
			t.Errorf("%s: %s", name, told)
		}
		if told := h.tell(hook.Stop, in); told != "" {
			t.Errorf("%s, once more: %s", name, told)
		}
	}
}

// An unreadable tree is reported, and blocks nothing.
func TestStopWithoutGit(t *testing.T) {
	h := newHouse(t)
	h.Env = func(name string) string { return map[string]string{"RALPH_SANDBOX": "docker"}[name] }
	h.Dirty = func(context.Context, string) ([]string, error) { return nil, errors.New("no git") }
	h.write(".ralph-active", `{"pid":1}`)
	if err := os.Mkdir(filepath.Join(h.dir, "ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.write("ralph/prd.json", `{"project":"p","branchName":"b","description":"d","userStories":[{"id":"a","title":"t","acceptanceCriteria":["c"],"priority":1,"passes":false}]}`)
	out := h.tell(hook.Stop, map[string]any{"session_id": "s", "cwd": h.dir})
	if !strings.Contains(out, "cannot check for uncommitted changes: no git") || strings.Contains(out, "decision") {
		t.Errorf("answered %s", out)
	}
}

// A hook that panics does not end the session, and denies a tool call.
func TestFallsOver(t *testing.T) {
	h := newHouse(t)
	h.Env = func(string) string { panic("odd") }
	in := map[string]any{"session_id": "s", "tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}
	for name, want := range map[string]string{hook.PreToolUse: "deny", hook.PostToolUse: "crashed: odd", hook.Stop: "crashed: odd"} {
		if out := h.tell(name, in); !strings.Contains(out, want) || name == hook.Stop && strings.Contains(out, "decision") {
			t.Errorf("%s answered %s, want %s", name, out, want)
		}
	}
}

// A patch names the files that it writes.
func TestPatch(t *testing.T) {
	h := newHouse(t)
	for path, want := range map[string]bool{"main.go": false, ".git/hooks/pre-commit": true} {
		patch := "*** Begin Patch\n*** Update File: " + path + "\n*** End Patch"
		for tool, line := range map[string]string{"apply_patch": patch, "Bash": "apply_patch <<'EOF'\n" + patch + "\nEOF"} {
			out := h.tell(hook.PreToolUse, map[string]any{
				"session_id": "s", "cwd": h.dir, "tool_name": tool, "tool_input": map[string]any{"command": line},
			})
			if got := strings.Contains(out, "deny"); got != want {
				t.Errorf("%s %s: denied %v: %s", tool, path, got, out)
			}
		}
	}
	out := h.tell(hook.PreToolUse, map[string]any{
		"session_id": "s", "cwd": h.dir, "tool_name": "Bash",
		"tool_input": map[string]any{"command": "cat >how.md <<'EOF'\n*** Update File: .git/config\nEOF"},
	})
	if out != "" {
		t.Errorf("words about a patch: %s", out)
	}
}

// The session's folder can differ from the project's.
func TestCommandWhereTheSessionStands(t *testing.T) {
	h := newHouse(t)
	h.Env = func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": "/p"}[name] }
	for dir, denied := range map[string]bool{"/p/it's": true, "/p/it's/own": false} {
		out := h.tell(hook.PreToolUse, map[string]any{"session_id": "s", "cwd": dir, "tool_name": "Bash", "tool_input": map[string]any{"command": "rm -rf .."}})
		if got := strings.Contains(out, "deny"); got != denied {
			t.Errorf("in %s: denied %v: %s", dir, got, out)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                          nil,
		"  a \t b\n":                {"a", "b"},
		`"a b" 'c d'e`:              {"a b", "c de"},
		`"" x`:                      {"", "x"},
		"\"it's `id` $HOME\" #12 ;": {"it's `id` $HOME", "#12", ";"},
		`a\ b "c\"d" '\n' "\n" \`:   {"a b", `c"d`, `\n`, `\n`, `\`},
		`--max-iterations="3"`:      {"--max-iterations=3"},
	} {
		got, err := hook.Words(line)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Words(%q) (-want +got): %v\n%s", line, err, diff)
		}
	}
	for _, line := range []string{`"a`, "don't"} {
		if got, err := hook.Words(line); err == nil {
			t.Errorf("Words(%q) = %q", line, got)
		}
	}
}

// For any input, a hook answers in JSON or not at all, and the guard denies input that it
// cannot read.
func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`))
	f.Add([]byte(`{"session_id":"../x","transcript_path":"/dev/null","tool_input":[1]}`))
	f.Add([]byte(`{"session_id":"s","tool_input":{"command":["a",1]},"stop_hook_active":"yes"}`))
	f.Add([]byte("\xff{"))
	f.Fuzz(func(t *testing.T, stdin []byte) {
		h := newHouse(t)
		for _, name := range hook.Names() {
			out := h.answer(name, stdin)
			if out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%s answered %q", name, out)
			}
			if name == hook.PreToolUse && !json.Valid(stdin) && !strings.Contains(out, "deny") {
				t.Errorf("%s answered %q to %q", name, out, stdin)
			}
		}
		if entries, err := os.ReadDir(h.dir); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != "state" }) {
			t.Errorf("%v, %v: something was written elsewhere", entries, err)
		}
	})
}

// For any transcript, the hooks answer in JSON or not at all.
func FuzzTranscript(f *testing.F) {
	f.Add(`{"type":"assistant","message":{"model":"m","usage":{"input_tokens":150000},"content":[{"type":"text","text":"<promise>DONE</promise>"}]}}` + "\n")
	f.Add(`{"type":"assistant","message":{"usage":{"input_tokens":-9223372036854775808,"cache_read_input_tokens":9223372036854775807},"content":"x"}}` + "\n\n")
	f.Add(`{"type":"system","subtype":"compact_boundary"}` + "\n" + `{"type":"assistant","timestamp":"yesterday","message":{"content":[{"type":7},[]]}}`)
	f.Add("\"assistant\"\x00\xff\n{\"assistant\":")
	f.Fuzz(func(t *testing.T, text string) {
		h := newHouse(t)
		h.loop()
		told := map[string]any{"session_id": "s", "transcript_path": h.write("t.jsonl", text), "last_assistant_message": "I am done."}
		for _, name := range hook.Names() {
			if out := h.tell(name, told); out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%s answered %q", name, out)
			}
		}
	})
}
