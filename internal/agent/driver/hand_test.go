package driver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

var order = agent.Order{Iteration: 3, Max: 10, Story: "US-001", Prompt: "do it\n"}

// An agent that cannot start is a fault with a hint, and keeps no transcript.
func TestAgentCannotStart(t *testing.T) {
	for name, test := range map[string]struct {
		agent, command string
		prompt         int // bytes
		change         func(*agenttest.Stand)
		hint           string
	}{
		"it is missing": {
			agent:  "claude",
			change: func(s *agenttest.Stand) { s.Env = []string{"PATH=" + s.Dir} },
			hint:   "install Claude Code",
		},
		"its interpreter is missing": {agent: "command", command: "./agent", hint: "install the program that its first line names"},
		"its prompt is too large":    {agent: "command", command: "true", prompt: 10_000_001, hint: "shorten the task"},
		"the sandbox refuses it": {
			agent: "command", command: "true", hint: "make it smaller",
			change: func(s *agenttest.Stand) {
				s.Run = func(context.Context, process.Command) (process.Result, error) {
					return process.Result{}, fault.Usage("cannot keep it", "make it smaller", os.ErrPermission)
				}
			},
		},
	} {
		s := agenttest.New(t, test.agent, agent.Options{Command: test.command})
		script := []byte("#!/no/such/interpreter\n")
		if err := os.WriteFile(filepath.Join(s.Dir, "agent"), script, 0o755); err != nil {
			t.Fatal(err)
		}
		if test.change != nil {
			test.change(s)
		}
		_, err := s.Do(t.Context(), agent.Order{Prompt: strings.Repeat("x", test.prompt)})
		if fault.Exit(err) != fault.ExitUsage || !strings.Contains(fault.Hint(err), test.hint) {
			t.Errorf("%s: Do = %v, hint %q, want %q", name, err, fault.Hint(err), test.hint)
		}
	}
}

func TestAgentEnds(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	tests := map[string]struct {
		child, agent string
		timeout      time.Duration
		want         journal.AgentEnded
	}{
		"well": {
			child: "answer",
			want:  journal.AgentEnded{Words: "I was to do it"},
		},
		"after a very long line": {
			child: "long",
			want:  journal.AgentEnded{Promises: []string{"COMPLETE"}, Words: long[:64<<10-len("\n<promise>COMPLETE</promise>\n")] + "\n<promise>COMPLETE</promise>"},
		},
		"with an exit code": {
			child: "fails",
			want:  journal.AgentEnded{Exit: 3, Failed: true, Why: "exit code 3: Error: model not found", Words: "I will try"},
		},
		"with advice behind the cause": {
			child: "advises",
			want:  journal.AgentEnded{Exit: 2, Failed: true, Why: "exit code 2: ralph: cannot read script.txtar"},
		},
		"with a cause that does not end the complaint": {
			child: "locked",
			want:  journal.AgentEnded{Exit: 128, Failed: true, Why: "exit code 128: fatal: Unable to create '.git/index.lock': File exists."},
		},
		"before it began": {
			child: "refuses", agent: "claude",
			want: journal.AgentEnded{Exit: 1, Failed: true, CannotRun: true, Why: "exit code 1: error: unknown option '--verbose'"},
		},
		"without its protocol": {
			child: "prompt", agent: "claude",
			want: journal.AgentEnded{Failed: true, Why: "ended without a result"},
		},
		"when its time is up": {
			child: "hangs", timeout: 300 * time.Millisecond,
			want: journal.AgentEnded{Exit: 143, Signal: "SIGTERM", TimedOut: true, Failed: true, Why: "not done after 300ms"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.agent == "" {
				test.agent = "command"
			}
			s := agenttest.New(t, test.agent, agent.Options{Command: agenttest.Self(t, test.child)})
			s.Timeout = test.timeout
			got, err := s.Do(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			if got.TookMS < 0 || got.Transcript.Size != int64(s.Kept["transcript_3.ndjson"].Len()) {
				t.Errorf("took %d ms, transcript %+v", got.TookMS, got.Transcript)
			}
			if got.TimedOut {
				got.Words = "" // it may have got as far as saying something
			}
			if want := test.agent == "command"; got.Blind != want {
				t.Errorf("Blind = %v, want %v", got.Blind, want)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(journal.AgentEnded{}, "TookMS", "Transcript", "Blind")); diff != "" {
				t.Errorf("Do (-want +got):\n%s", diff)
			}
			if len(got.Words) > 64<<10 {
				t.Error("too many words")
			}
		})
	}
}

func TestInterruptedAgentIsSummedUp(t *testing.T) {
	s := agenttest.New(t, "command", agent.Options{Command: agenttest.Self(t, "hangs")})
	ctx, cancel := context.WithCancel(t.Context())
	s.Watch = func(stream.Item) { cancel() }
	got, err := s.Do(ctx, order)
	if err != nil || got.Why != "interrupted" || got.CannotRun || got.Words != "thinking" {
		t.Errorf("Do = %+v, %v", got, err)
	}
}

// What an agent reports of a turn that its model server ended does not count: some report a refused key as a success.
func TestTheModelServerEndsTheTurn(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		result stream.Result
		want   journal.AgentEnded
	}{
		"a refused key, as a success": {
			`echo "Authentication failed"`,
			stream.Result{Failed: true, Reason: "api.example refuses the key, status", Status: 401},
			journal.AgentEnded{CannotRun: true, Denied: stream.NoLogin, Why: "api.example refuses the key, status 401"},
		},
		"no network": {
			"exec sleep 600",
			stream.Result{Failed: true, Reason: "cannot reach api.example", Text: "no such host", Busy: true},
			journal.AgentEnded{Busy: true, Why: "cannot reach api.example: no such host"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			hand := idling(t, "sh -c '"+test.script+"'")
			hand.Idle = 0
			turn, end := context.WithCancelCause(t.Context())
			run := hand.Run
			hand.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
				if strings.HasPrefix(test.script, "echo") {
					defer end(&stream.Unanswered{Result: test.result})
					return run(context.WithoutCancel(ctx), c)
				}
				end(fmt.Errorf("%w: %w", process.ErrNoGrace, &stream.Unanswered{Result: test.result}))
				return run(ctx, c)
			}
			got, err := hand.Do(turn, agent.Order{Iteration: 1, Prompt: "go"})
			is := journal.AgentEnded{CannotRun: got.CannotRun, Denied: got.Denied, Why: got.Why, Busy: got.Busy}
			if diff := cmp.Diff(test.want, is); err != nil || diff != "" || !got.Failed {
				t.Errorf("Do: %v, failed %t (-want +got):\n%s", err, got.Failed, diff)
			}
		})
	}
}

func TestClaimsAreTheAgentsOwn(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []string
	}{
		"a tag alone on its line":   {`{"type":"result","result":"Well\nALL GREEN\n"}`, []string{"ALL GREEN"}},
		"split over two messages":   {`{"type":"assistant","message":{"content":[{"type":"text","text":"<promise>A"},{"type":"text","text":"B</promise>"}]}}`, nil},
		"in a tool's output":        {`{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"<promise>A</promise>"}]}}`, nil},
		"in the program's own text": {`{"type":"result","is_error":true,"result":"<promise>A</promise>"}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := printing(t, test.lines).Do(t.Context(), agent.Order{Tags: []string{"ALL GREEN"}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Promises); diff != "" {
				t.Errorf("promises (-want +got):\n%s", diff)
			}
		})
	}
}

// broken is a disk that is full.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }
func (broken) Close() error              { return nil }

func TestLostTranscriptEndsNothing(t *testing.T) {
	s := agenttest.New(t, "command", agent.Options{Command: agenttest.Self(t, "answer")})
	s.Open = func(string) (io.WriteCloser, error) { return broken{}, nil }
	got, err := s.Do(t.Context(), order)
	if err != nil || got.Failed || got.Words != "I was to do it" || got.Transcript != (journal.Attachment{}) {
		t.Errorf("Do = %+v, %v", got, err)
	}
	if !strings.Contains(s.Script(), "transcript: no space left") {
		t.Error("there was no report")
	}
}

// What an agent gives away reaches its decoder, and not the disk: neither where
// it came in two pieces, nor where the end came before its.
func TestSecretsStayOutOfTheTranscript(t *testing.T) {
	s := agenttest.New(t, "command", agent.Options{Command: agenttest.Self(t, "prompt")})
	s.Redact = redact.New("made-up-canary").Writer
	s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
		for _, piece := range []string{"keys: made-", "up-canary ", "and made-up-can", "ary\nmade-"} {
			if _, err := io.WriteString(c.Stdout, piece); err != nil {
				return process.Result{}, err
			}
		}
		return process.Result{}, nil
	}
	got, err := s.Do(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	kept := s.Kept["transcript_3.ndjson"].Bytes()
	if want := "keys: *** and ***\nmade-"; string(kept) != want {
		t.Errorf("kept %q, want %q", kept, want)
	}
	digest := sha256.Sum256(kept)
	want := journal.Attachment{Path: "transcript_3.ndjson", Digest: hex.EncodeToString(digest[:]), Size: int64(len(kept))}
	if got.Transcript != want {
		t.Errorf("transcript %+v, want %+v", got.Transcript, want)
	}
	if want := "keys: *** and ***\nmade-"; got.Words != want {
		t.Errorf("words %q, want %q", got.Words, want)
	}
}

// Text is shortened anywhere, also in the middle of a secret, whose half could
// not be recognized.
func TestSecretsAreHiddenBeforeAnythingIsCut(t *testing.T) {
	const secret = "made-up-canary-that-is-long"
	s := agenttest.New(t, "claude", agent.Options{Command: agenttest.Self(t, "prompt")})
	s.Redact = redact.New(secret).Writer
	s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
		for n := range 2 * len(secret) { // one of them is cut in two by each of the limits
			fill := strings.Repeat("x", 200-2*len(secret)+n)
			_, err := fmt.Fprintf(c.Stdout, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"%s%s"}}]}}`+"\n", n, fill, secret)
			if err == nil {
				_, err = fmt.Fprintf(c.Stderr, "error: %s%s\n", fill, secret)
			}
			if err != nil {
				return process.Result{}, err
			}
		}
		_, err := fmt.Fprintf(c.Stdout, `{"type":"assistant","message":{"content":[{"type":"text","text":"%s%s"}]}}`+"\n", secret, strings.Repeat("x", 2000-len(secret)/2))
		return process.Result{Exit: 1}, err
	}
	got, err := s.Do(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprint(s.Items, got); strings.Contains(said, "made") || strings.Contains(said, "long") || !strings.Contains(said, "xx***") {
		t.Errorf("a part of the secret is shown: %s", said)
	}
}

// counter is a large disk.
type counter struct{ size, tail int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	c.tail = int64(len(p))
	return len(p), nil
}
func (*counter) Close() error { return nil }

func TestTranscriptIsCutAt256MiB(t *testing.T) {
	s := agenttest.New(t, "claude", agent.Options{Command: agenttest.Self(t, "prompt")})
	disk := &counter{}
	s.Open = func(string) (io.WriteCloser, error) { return disk, nil }
	chunk := []byte(strings.Repeat("x", 1<<20))
	s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
		for range 300 {
			if _, err := c.Stdout.Write(chunk); err != nil {
				return process.Result{}, err
			}
		}
		return process.Result{}, nil
	}
	got, err := s.Do(t.Context(), order)
	if want := "Progress {Text:left out a line that is too long}\n"; s.Script() != want {
		t.Errorf("items:\n%s", s.Script())
	}
	if err != nil || disk.size != 256<<20+disk.tail || disk.tail > 200 || got.Transcript.Size != disk.size {
		t.Errorf("kept %d bytes, the last %d at once; Do = %+v, %v", disk.size, disk.tail, got, err)
	}
}

// A cost that an agent makes up can neither grow a budget nor break the record, nor fill the console.
func TestMadeUpCost(t *testing.T) {
	tests := map[string]struct {
		line string
		want stream.Cost
	}{
		"below zero": {
			`{"type":"assistant","message":{"id":"m","usage":{"input_tokens":-7}}}` + "\n" +
				`{"type":"result","total_cost_usd":-5,"usage":{"input_tokens":-7}}`, stream.Cost{},
		},
		"endless":    {`{"type":"result","total_cost_usd":1e308}`, stream.Cost{USD: 1e6, Known: true}},
		"cumulative": {`{"type":"result","total_cost_usd":1}` + "\n" + `{"type":"result","total_cost_usd":3}`, stream.Cost{USD: 3, Known: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hand := printing(t, test.line)
			var shown stream.Result
			hand.Watch = func(item stream.Item) { shown, _ = item.(stream.Result) }
			got, err := hand.Do(t.Context(), order)
			if err != nil || got.Cost != test.want || got.Usage != (stream.Usage{}) {
				t.Errorf("Do = %+v, %v, want %+v", got, err, test.want)
			}
			if shown.Cost != test.want || shown.Usage != (stream.Usage{}) {
				t.Errorf("the console gets %+v, want %+v", shown, test.want)
			}
		})
	}
}
