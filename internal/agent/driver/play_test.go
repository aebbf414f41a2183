package driver_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
	"github.com/ralph-loop/ralph/internal/testsupport/scripted"
)

const everyKind = `Every kind there is, but for those that end it.
-- 1/expect --
Iteration 1
-- 1/todo --
[x] read
[>] write
-- 1/tool --
Read: main.go => package main
Bash: go test =! FAIL
-- 1/write/a/new.txt --
new
-- 1/write/old.txt --
gone soon
-- 1/delete/old.txt --
-- 1/run --
echo "$RALPH_STORY of $RALPH_MAX_ITERATIONS" > a/run.txt; echo done
-- 1/progress --
## Iteration 1
-- 1/claim --
US-001: wrote a/new.txt
-- 1/cost --
usd: 0.25
input: 1000
output: 50
-- 1/sleep --
1ms
-- 1/commit --
feat: [US-001] - Write it
-- 1/say --
All done.
-- 1/promise --
COMPLETE
-- US-007/say --
By story.
-- */say --
By default.
`

const prd = `{
  "project": "p",
  "branchName": "ralph/p",
  "description": "d",
  "verifyCommands": [],
  "userStories": [
    {
      "id": "US-001",
      "title": "Write it",
      "description": "",
      "acceptanceCriteria": ["it is there"],
      "priority": 1,
      "passes": false,
      "notes": "",
      "dependsOn": []
    }
  ]
}
`

// stage is a stand in a git repository, with a script.
type stage struct{ *agenttest.Stand }

func newPlay(t *testing.T, text string) stage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.txtar")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := stage{agenttest.New(t, "scripted", agent.Options{Self: me, Script: path})}
	if err := os.MkdirAll(filepath.Join(s.Dir, "ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "ralph", "prd.json"), []byte(prd), 0o644); err != nil {
		t.Fatal(err)
	}
	s.git(t, "init", "-q", "-b", "main")
	s.git(t, "add", "-A")
	s.git(t, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base")
	return s
}

func (s stage) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s stage) play(t *testing.T, iteration int, story string) journal.AgentEnded {
	t.Helper()
	ended, err := s.Do(t.Context(), agent.Order{Iteration: iteration, Max: 9, Story: story, Prompt: "Iteration 1 of 9"})
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

var timeless = cmpopts.IgnoreFields(journal.AgentEnded{}, "TookMS", "Transcript")

func TestPlayEveryKind(t *testing.T) {
	s := newPlay(t, everyKind)
	want := journal.AgentEnded{
		Tools: 9, ToolErrors: 1,
		Promises: []string{"COMPLETE"},
		Words:    "All done.\n<promise>COMPLETE</promise>",
		Usage:    stream.Usage{Input: 1000, Output: 50},
		Cost:     stream.Cost{USD: 0.25, Known: true},
	}
	if diff := cmp.Diff(want, s.play(t, 1, "US-001"), timeless); diff != "" {
		t.Errorf("Do (-want +got):\n%s\n%s", diff, s.Script())
	}
	if got := s.git(t, "log", "--format=%an %s", "-1"); got != "Scripted Agent feat: [US-001] - Write it" {
		t.Errorf("log = %s", got)
	}
	if got := s.git(t, "status", "--porcelain"); got != "" {
		t.Errorf("left uncommitted: %s", got)
	}
	files := "a/new.txt\na/run.txt\nralph/prd.json\nralph/progress.txt"
	if got := s.git(t, "diff", "--name-only", "HEAD~1"); got != files {
		t.Errorf("changed: %s", got)
	}
	if got := s.git(t, "show", "HEAD:a/run.txt"); got != "US-001 of 9" {
		t.Errorf("run.txt = %q", got)
	}
	diff := s.git(t, "diff", "-U0", "HEAD~1", "--", "ralph/prd.json")
	if !strings.Contains(diff, `+      "passes": true`) || !strings.Contains(diff, `+      "notes": "wrote a/new.txt"`) {
		t.Errorf("prd.json: %s", diff)
	}
}

func TestPlayAgainChangesNothing(t *testing.T) {
	s := newPlay(t, everyKind)
	first := s.play(t, 1, "US-001")
	head := s.git(t, "rev-parse", "HEAD")
	if err := os.WriteFile(filepath.Join(s.Dir, ".git", "index.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, s.play(t, 1, "US-001"), timeless); diff != "" {
		t.Errorf("the second play differs (-first +second):\n%s\n%s", diff, s.Script())
	}
	if got := s.git(t, "rev-parse", "HEAD"); got != head {
		t.Errorf("HEAD = %s, want %s", got, head)
	}
	if got := s.git(t, "status", "--porcelain"); got != "" {
		t.Errorf("left uncommitted: %s", got)
	}
}

func TestPlayPicksItsScene(t *testing.T) {
	s := newPlay(t, everyKind)
	for story, want := range map[string]string{"US-007": "By story.", "US-002": "By default.", "": "By default."} {
		if got := s.play(t, 2, story).Words; got != want {
			t.Errorf("story %s: words = %q, want %q", story, got, want)
		}
	}
}

func TestPlayEnds(t *testing.T) {
	tests := map[string]struct {
		text string
		want journal.AgentEnded
	}{
		"by an API error": {
			text: "-- 1/fail --\n529 Overloaded\n-- 1/say --\nnever\n",
			want: journal.AgentEnded{Exit: 1, Failed: true, Busy: true, Why: "api_error 529: API Error: 529 Overloaded"},
		},
		"by a key refused": {
			text: "-- 1/fail --\n401 Invalid key\n",
			want: journal.AgentEnded{Exit: 1, Failed: true, CannotRun: true, Denied: stream.NoLogin, Why: "api_error 401: API Error: 401 Invalid key"},
		},
		"by a model that is not there": {
			text: "-- 1/fail --\n404 model: claude-nonesuch\n",
			want: journal.AgentEnded{Exit: 1, Failed: true, CannotRun: true, Denied: stream.NoModel, Fix: "choose a model that the server has, or another server (model-base-url)", Why: "api_error 404: API Error: 404 model: claude-nonesuch"},
		},
		"by an exit code": {
			text: "-- 1/exit --\n7\n",
			want: journal.AgentEnded{Exit: 7, Failed: true, Why: "ended without a result, exit code 7"},
		},
		"early and well": {
			text: "-- 1/exit --\n0\n-- 1/fail --\n",
			want: journal.AgentEnded{},
		},
		"by a prompt that lacks something": {
			text: "-- 1/expect --\nIteration 1\nthe test failed\n",
			want: journal.AgentEnded{Exit: 1, Failed: true, Why: `unexpected_prompt: the prompt does not say "the test failed"`},
		},
		"with nothing in the script": {
			text: "-- 2/say --\nlater\n",
			want: journal.AgentEnded{},
		},
		"by a mistake in the script": {
			text: "Title\n\n-- 1/say --\nhello\n-- 1/comit --\nx\n",
			want: journal.AgentEnded{
				Exit: 2, Failed: true, CannotRun: true,
				Why: `exit code 2: script.txtar:5: unknown kind "comit", did you mean "commit"?`,
			},
		},
		"by a claim of nothing": {
			text: "-- 1/claim --\nUS-404\n",
			want: journal.AgentEnded{
				Exit: 2, Failed: true,
				Why: "ended without a result, exit code 2: script.txtar:1: claim in ralph/prd.json: no story US-404",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newPlay(t, test.text)
			got := s.play(t, 1, "US-001")
			test.want.Cost = got.Cost // of no interest here
			if diff := cmp.Diff(test.want, got, timeless); diff != "" {
				t.Errorf("Do (-want +got):\n%s\n%s", diff, s.Script())
			}
		})
	}
}

func TestPlayHangs(t *testing.T) {
	tests := map[string]struct {
		grace time.Duration
		want  journal.AgentEnded
	}{
		"hang":               {time.Minute, journal.AgentEnded{Exit: 143, Failed: true, Tools: 1, Why: "interrupted"}},
		"hang-ignoring-term": {time.Millisecond, journal.AgentEnded{Exit: 137, Signal: "SIGKILL", Failed: true, Tools: 1, Why: "interrupted"}},
	}
	for kind, test := range tests {
		t.Run(kind, func(t *testing.T) {
			s := newPlay(t, "-- 1/"+kind+" --\n")
			ctx, cancel := context.WithCancel(t.Context())
			s.Grace = test.grace
			s.Watch = func(item stream.Item) {
				if _, hangs := item.(stream.ToolStart); hangs {
					cancel()
				}
			}
			got, err := s.Do(ctx, agent.Order{Iteration: 1})
			if diff := cmp.Diff(test.want, got, timeless); diff != "" || err != nil {
				t.Errorf("Do = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestPlayLeavesAProcessBehind(t *testing.T) {
	s := newPlay(t, "-- 1/spawn --\nexec sleep 600\n-- 1/say --\nBye.\n")
	if got := s.play(t, 1, "US-001"); got.Swept == 0 || got.Failed || got.Words != "Bye." {
		t.Errorf("Do = %+v\n%s", got, s.Script())
	}
}

func TestBadScripts(t *testing.T) {
	tests := map[string]string{
		"-- say --\n":                   `script:1: "say" does not say when and what`,
		"-- 1/write --\n":               `script:1: "1/write": a path belongs to write and delete`,
		"-- 1/say/x --\n":               `script:1: "1/say/x": a path belongs to write and delete`,
		"-- 1/write/../x --\n":          `script:1: "../x" leaves the working directory`,
		"a\n-- 1/sleep --\nlong\n":      `script:2: sleep: time: invalid duration "long"`,
		"-- 1/exit --\n300\n":           `script:1: exit "300": write a code from 0 to 255`,
		"-- 1/cost --\neur: 3\n":        `script:1: cost "eur": write usd, input`,
		"-- 1/cost --\ninput: many\n":   `script:1: cost "input": strconv.ParseInt`,
		"-- 1/say --\n-- 1/commit --\n": `script:2: commit: no message`,
	}
	for text, want := range tests {
		_, err := scripted.Play(t.Context(), scripted.Stage{Script: []byte(text)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What Play prints must not change unnoticed.
func TestPlayProtocol(t *testing.T) {
	var out bytes.Buffer
	code, err := scripted.Play(t.Context(), scripted.Stage{
		Script: []byte("Title\n-- 1/write/a.txt --\na\n-- 1/say --\nHello.\n-- 1/cost --\nusd: 1\ninput: 5\n"), Iteration: 1,
		Dir: t.TempDir(), Prompt: strings.NewReader(""), Out: &out,
		Run: func(context.Context, process.Command) (process.Result, error) { return process.Result{}, nil },
	})
	want := `script Title
{}
{"call":{"id":"call_1","name":"Write","input":"a.txt","output":"","failed":false}}
{"text":"Hello."}
{"spent":{"usd":1,"input":5,"output":0,"cache_read":0,"cache_write":0,"cache_hour":0}}
{"result":{"reason":"stop","failed":false,"text":"","status":0,"after":0}}
`
	if diff := cmp.Diff(want, out.String()); diff != "" || code != 0 || err != nil {
		t.Errorf("Play = %d, %v (-want +got):\n%s", code, err, diff)
	}
}
