package trace_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/trace"
)

// collector is one on loopback.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []*otlp.Span
	asked  []*http.Request
	answer int
}

func listen(t *testing.T, answer int) *collector {
	t.Helper()
	c := &collector{answer: answer}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent otlp.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.asked = append(c.asked, r)
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
		w.WriteHeader(c.answer)
	}))
	t.Cleanup(c.Close)
	return c
}

// drawn returns the spans as a tree, with what they say of themselves.
func (c *collector) drawn() string {
	var out strings.Builder
	var below func(parent, indent string)
	below = func(parent, indent string) {
		for _, s := range c.spans {
			if string(s.GetParentSpanId()) != parent {
				continue
			}
			out.WriteString(indent + s.GetName() + " " + time.Duration(s.GetEndTimeUnixNano()-s.GetStartTimeUnixNano()).String())
			for _, a := range s.GetAttributes() {
				if v := a.GetValue(); !strings.Contains(quiet, a.GetKey()) {
					out.WriteString(" " + strings.TrimPrefix(a.GetKey(), "ralph.") + "=" + strings.Trim(strings.Split(v.String(), ":")[1], `"`))
				}
			}
			if s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
				out.WriteString(" ERROR " + s.GetStatus().GetMessage())
			}
			out.WriteString("\n")
			below(string(s.GetSpanId()), indent+"  ")
		}
	}
	below("", "")
	return out.String()
}

// quiet are attributes that the drawing leaves out.
const quiet = "ralph.tokens.cache_read ralph.tokens.cache_write ralph.resumed ralph.issue ralph.branch ralph.repository ralph.tools ralph.exit ralph.rejected"

// options returns those of a tracer whose secret is hush. The SDK reads the process's own
// environment.
func options(t *testing.T, env map[string]string, said *[]string) trace.Options {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	return trace.Options{
		Getenv: func(name string) string { return env[name] }, Version: "v1",
		Hide: func(text string) string { return strings.ReplaceAll(text, "hush", "***") },
		Say:  func(line string) { *said = append(*said, line) },
	}
}

// minutes is a timeout of collectors that answer, in milliseconds: the machine may be busy.
const minutes = "600000"

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// play has a tracer hear a run of one iteration.
func play(t *trace.Tracer) {
	run, seq, at := journal.Run{}, 0, began
	tell := t.Around(func(journal.Run, journal.Event) {})
	for _, e := range []struct {
		after time.Duration
		event journal.Event
	}{
		{0, journal.RunBegan{Run: "issue-7", Policy: policy.Policy{Agent: "claude"}, Task: plan.Task{Number: 7}, Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}}},
		{2 * time.Second, journal.CheckEnded{Where: journal.AtBase, Name: "make test", Passed: true, TookMS: 2000}},
		{0, journal.IterationBegan{Number: 1, Story: "US-001 hush"}},
		{time.Minute, journal.AgentEnded{TookMS: 60_000, Usage: stream.Usage{Input: 10, Output: 20}, Cost: stream.Cost{USD: 0.5, Known: true}}},
		{3 * time.Second, journal.CheckEnded{Where: journal.AtHead, Name: "make test", Passed: false, TookMS: 2000, Exit: 2}},
		{time.Second, journal.ProofEnded{Story: "US-001", Commit: "abc", Result: journal.Failed, Why: "a check failed with hush"}},
		{4 * time.Second, journal.Pushed{Branch: "ralph/issue-7", SHA: "abc"}},
		{0, journal.IterationEnded{Number: 1, Story: "US-001", Green: true, Passed: []string{"US-001"}}},
		{time.Second, journal.RunStopped{Reason: policy.MaxIterations, Why: "enough of hush"}},
		{time.Second, journal.Shelved{Ref: "refs/ralph/7", Commit: "abc"}},
	} {
		seq, at = seq+1, at.Add(e.after)
		run = journal.Fold(run, journal.Entry{Seq: seq, At: at, Event: e.event})
		tell(run, e.event)
	}
	t.Close(context.Background(), nil)
}

// The events of a run are spans at a collector: what ran within what, for how long, and
// what it cost. No secret is in them.
func TestARunIsATrace(t *testing.T) {
	c, said := listen(t, http.StatusOK), []string{}
	play(trace.New(t.Context(), options(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/base/", "OTEL_EXPORTER_OTLP_TIMEOUT": minutes, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, other=c",
	}, &said)))
	want := `run 1m11s run=issue-7 agent=claude tokens.input=10 tokens.output=20 stop_reason=max_iterations status=stopped iterations=1 stories_passed=1 cost_usd=0.5 ERROR enough of ***
  check 2s check=make test where=base passed=true
  iteration 1m8s iteration=1 story=US-001 *** green=true passed=1
    agent 1m0s tokens.input=10 tokens.output=20 cost_usd=0.5
    check 2s check=make test where=head passed=false ERROR the check failed
    proof 3s commit=abc passed=false reused=false story=US-001 result=failed ERROR the proof failed: a check failed with ***
    push 4s commit=abc
`
	if diff := cmp.Diff(want, c.drawn()); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if len(said) != 0 {
		t.Errorf("people were told %q", said)
	}
	for _, r := range c.asked {
		if r.URL.Path != "/base/v1/traces" || r.Header.Get("X-Key") != "a b" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("asked %s with %v", r.URL, r.Header)
		}
	}
}

// What is unknown is no attribute: 0 would be a cost.
func TestAnUnknownCostIsLeftOut(t *testing.T) {
	c, said := listen(t, http.StatusOK), []string{}
	tracer := trace.New(t.Context(), options(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/own", "OTEL_EXPORTER_OTLP_TIMEOUT": minutes}, &said))
	run := journal.Fold(journal.Run{}, journal.Entry{Seq: 1, At: began, Event: journal.RunBegan{Run: "r"}})
	tracer.Event(run, journal.AgentEnded{TookMS: 5})
	tracer.Close(t.Context(), nil) // ends what is open
	if got := c.drawn(); strings.Contains(got, "cost_usd") || !strings.Contains(got, "  agent 5ms") || c.asked[0].URL.Path != "/own" {
		t.Errorf("trace\n%s", got)
	}
}

// Without a collector there are no traces. What the environment says wrongly is told, and
// so is a collector that fails: neither is an error of the run.
func TestTracesAreOffOrTold(t *testing.T) {
	away := httptest.NewServer(nil)
	away.Close()
	part := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = io.WriteString(w, "\x0a\x08\x08\x01\x12\x04hush") // one span was left out: hush
	}))
	defer part.Close()
	for name, c := range map[string]struct {
		env  map[string]string
		want string // of what people are told
	}{
		"no endpoint":     {map[string]string{}, ""},
		"turned off":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": away.URL, "OTEL_SDK_DISABLED": "true"}, ""},
		"no exporter":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": away.URL, "OTEL_TRACES_EXPORTER": "none"}, ""},
		"gRPC":            {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": away.URL, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "only http/protobuf"},
		"no address":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, "not an address"},
		"a closed port":   {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": away.URL + "/hush"}, "traces could not be sent: "},
		"it answers 503":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": listen(t, http.StatusServiceUnavailable).URL}, "traces could not be sent: the collector did not take all of them"},
		"it takes a part": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": part.URL}, "traces could not be sent: the collector did not take all of them"},
		"it leads astray": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": listen(t, http.StatusFound).URL}, "traces could not be sent: the collector answered 302 Found"},
	} {
		t.Run(name, func(t *testing.T) {
			said := []string{}
			c.env["OTEL_EXPORTER_OTLP_TIMEOUT"] = minutes
			play(trace.New(t.Context(), options(t, c.env, &said)))
			got := strings.Join(said, "\n")
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "hush") || strings.Contains(got, "http://") || strings.Contains(got, "body") {
				t.Errorf("people are told %q, want %q", got, c.want)
			}
		})
	}
}

// A collector that never answers holds a run up for a short time, at its end alone.
func TestACollectorThatHangsIsLeft(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(release) })
	said := []string{}
	play(trace.New(t.Context(), options(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": hangs.URL}, &said)))
	if len(said) != 1 || !strings.Contains(said[0], "traces could not be sent") {
		t.Errorf("people are told %q", said)
	}
}
