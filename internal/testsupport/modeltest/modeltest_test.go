package modeltest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// asker is what a CLI sends: offers of a tool that runs commands, and of none.
type asker struct {
	*testing.T
	path, streamed, body, streaming, helper string
}

var askers = map[string]asker{
	"anthropic": {
		path: "/v1/messages", streamed: "/v1/messages?beta=true",
		body:      `{"model":"m1","tools":[{"name":"Read"},{"name":"Bash"}],"messages":[]}`,
		streaming: `{"model":"m1","stream":true,"tools":[{"name":"Bash"}],"messages":[]}`,
		helper:    `{"model":"m0","max_tokens":1,"messages":[]}`,
	},
	"responses": {
		path: "/v1/responses", streamed: "/v1/responses",
		body:      `{"model":"m1","tools":[{"type":"function","name":"exec_command"}],"input":[]}`,
		streaming: `{"model":"m1","stream":true,"tools":[{"type":"function","name":"exec_command"}],"input":[]}`,
		helper:    `{"model":"m0","input":[]}`,
	},
	"chat": {
		path: "/v1/chat/completions", streamed: "/v1/chat/completions",
		body:      `{"model":"m1","tools":[{"type":"function","function":{"name":"bash"}}],"messages":[]}`,
		streaming: `{"model":"m1","stream":true,"tools":[{"type":"function","function":{"name":"bash"}}],"messages":[]}`,
		helper:    `{"model":"m0","messages":[]}`,
	},
	"gemini": {
		path: "/v1beta/models/m1:generateContent", streamed: "/v1beta/models/m1:streamGenerateContent?alt=sse",
		body:      `{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[]}`,
		streaming: `{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[]}`,
		helper:    `{"contents":[]}`,
	},
}

// each runs a test for every dialect.
func each(t *testing.T, test func(a asker)) {
	t.Helper()
	for name, a := range askers {
		t.Run(name, func(t *testing.T) {
			a.T = t
			test(a)
		})
	}
}

// told is what came back.
type told struct {
	status int
	header http.Header
	text   string
	err    error // that cut it off
}

func post(t *testing.T, s *modeltest.Server, path, body string) told {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer the-key")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return told{status: response.StatusCode, header: response.Header, text: string(text), err: err}
}

// An answer reads as its maker's own does, in one piece and streamed.
func TestDialects(t *testing.T) {
	answer := modeltest.Answer{
		Words: "I write it. <promise>NOT YET</promise>",
		Calls: []modeltest.Call{modeltest.Shell("echo hi > file"), {Tool: "Read", Input: map[string]any{"file_path": "file"}}},
		Usage: stream.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40},
	}
	each(t, func(a asker) {
		t := a.T
		s := modeltest.Start(t, answer, answer)
		whole, streamed := post(t, s, a.path, a.body), post(t, s, a.streamed, a.streaming)
		if err := errors.Join(whole.err, streamed.err); err != nil {
			t.Fatal(err)
		}
		golden(t, whole.text+"\n\n"+streamed.text)
	})
}

// Codex's newest models find their tools among the input, and one of them takes
// a script that runs commands.
func TestToolThatTakesAScript(t *testing.T) {
	s := modeltest.Start(t, modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell(`echo "hi"`)}})
	got := post(t, s, "/v1/responses", `{"model":"m1","stream":true,"input":[{"type":"additional_tools","tools":[
		{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]},{"type":"message"}]}`)
	for _, want := range []string{
		`"type":"custom_tool_call"`, `"type":"response.custom_tool_call_input.delta"`,
		`"input":"text(await tools.exec_command({cmd: \"echo \\\"hi\\\"\", yield_time_ms: 30000}))"`,
	} {
		if got.err != nil || !strings.Contains(got.text, want) {
			t.Errorf("it was told %s, %v, want %s in it", got.text, got.err, want)
		}
	}
}

func golden(t *testing.T, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.Base(t.Name())+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// A title or a quota is none of the script's business.
func TestHelpersEatNoAnswer(t *testing.T) {
	each(t, func(a asker) {
		t := a.T
		s := modeltest.Start(t, modeltest.Answer{Words: "for the work alone"})
		if got := post(t, s, a.path, a.helper); got.err != nil || strings.Contains(got.text, "work") || s.Left() != 1 {
			t.Errorf("a helper was told %s, %v; %d answers left, want 1", got.text, got.err, s.Left())
		}
		for _, want := range []string{"for the work alone", "The script is over."} {
			if got := post(t, s, a.path, a.body); got.err != nil || !strings.Contains(got.text, want) {
				t.Errorf("the work was told %s, %v, want %s", got.text, got.err, want)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	reset := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	for _, status := range []int{401, 529} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			each(t, func(a asker) {
				t := a.T
				s := modeltest.Start(t,
					modeltest.Answer{Status: status, RetryAfter: 3 * time.Second, Reset: reset, Times: 2},
					modeltest.Answer{Words: "well again"})
				for i := range 2 {
					for _, body := range []string{a.helper, a.body} {
						got := post(t, s, a.path, body)
						if got.err != nil || got.status != status || got.header.Get("Retry-After") != "3" || !strings.Contains(got.text, `"error":{`) {
							t.Fatalf("answer %d: %+v", i, got)
						}
					}
				}
				if got := post(t, s, a.path, a.body); got.err != nil || got.status != http.StatusOK || !strings.Contains(got.text, "well again") {
					t.Errorf("afterwards: %+v", got)
				}
			})
		})
	}
}

// The end of a limit is told where each maker tells it.
func TestReset(t *testing.T) {
	reset := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	s := modeltest.Start(t, modeltest.Answer{Status: 429, RetryAfter: 90 * time.Second, Reset: reset, Times: modeltest.Always})
	got := post(t, s, "/v1/messages", askers["anthropic"].body)
	if key, login := got.header.Get("Anthropic-Ratelimit-Requests-Reset"), got.header.Get("Anthropic-Ratelimit-Unified-Reset"); key != "2026-11-20T12:00:00Z" || login != "1795176000" {
		t.Errorf("anthropic resets at %q, and for logins at %q", key, login)
	}
	for name, want := range map[string]string{"responses": `"resets_at":1795176000`, "chat": `"resets_at":1795176000`, "gemini": `"retryDelay":"90s"`} {
		if got := post(t, s, askers[name].path, askers[name].body); !strings.Contains(got.text, want) {
			t.Errorf("%s was told %s, want %s in it", name, got.text, want)
		}
	}
}

func TestCut(t *testing.T) {
	each(t, func(a asker) {
		t := a.T
		cut := modeltest.Answer{Words: strings.Repeat("words ", 100), Cut: true}
		s := modeltest.Start(t, cut, cut)
		for path, body := range map[string]string{a.path: a.body, a.streamed: a.streaming} {
			got := post(t, s, path, body)
			if !errors.Is(got.err, io.ErrUnexpectedEOF) || got.text == "" {
				t.Errorf("%s: %d bytes, then %v; want some, then %v", path, len(got.text), got.err, io.ErrUnexpectedEOF)
			}
		}
	})
}

// A stall ends with the one who waits, and not with the next answer.
func TestStall(t *testing.T) {
	each(t, func(a asker) {
		t := a.T
		s := modeltest.Start(t, modeltest.Answer{Stall: true}, modeltest.Answer{Words: "awake"})
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+a.path, strings.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan error, 1)
		go func() {
			response, err := http.DefaultClient.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			gone <- err
		}()
		for len(s.Work()) == 0 {
			select {
			case err := <-gone:
				t.Fatalf("it was answered: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the stalled request ended with %v", err)
		}
		if got := post(t, s, a.path, a.body); got.err != nil || !strings.Contains(got.text, "awake") {
			t.Errorf("the next was told %s, %v", got.text, got.err)
		}
	})
}
