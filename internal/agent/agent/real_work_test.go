package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

var done = modeltest.Answer{Words: "All done. <response>DONE</response>"}

// wroteHello returns what a model does that was asked to write a file.
func wroteHello() []modeltest.Answer {
	return []modeltest.Answer{
		{Words: "I write it.", Calls: []modeltest.Call{modeltest.Shell("echo hi > hello.txt; cat hello.txt")}},
		done,
	}
}

// A prompt goes in, a tool runs, words come out, and what it took is known.
func TestRealAgentWorks(t *testing.T) {
	eachCLI(t, func(c cli) {
		t := c.T
		b := c.bench(wroteHello()...)
		got, err := b.Do(t.Context(), b.order)
		if err != nil {
			t.Fatal(err)
		}
		want := journal.AgentEnded{
			Tools: 1, Response: "DONE", Words: done.Words,
			Usage: stream.Usage{Input: 2000, Output: 160, CacheRead: 400}, Cost: stream.Cost{Known: true},
		}
		if c.chatty {
			want.Usage, want.Cost = got.Usage, got.Cost
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(journal.AgentEnded{}, "TookMS", "Transcript"), cmpopts.IgnoreFields(stream.Cost{}, "USD")); diff != "" {
			t.Errorf("Do (-want +got):\n%s", diff)
		}
		if got.Cost.Known && (got.Cost.USD <= 0 || got.Cost.USD > 1) {
			t.Errorf("it cost %v dollars", got.Cost.USD)
		}
		b.wrote()
		b.arrived()
		t.Logf("measured: %s | %s | whole %d ms", c.agent, c.version(), got.TookMS)
	})
}

// wrote looks for the file and for the tool's own word for it.
func (b *bench) wrote() {
	b.Helper()
	if data, err := os.ReadFile(filepath.Join(b.Dir, "hello.txt")); err != nil || string(data) != "hi\n" {
		b.Errorf("hello.txt holds %q, %v", data, err)
	}
	said := ""
	for _, item := range b.Items {
		if end, is := item.(stream.ToolEnd); is {
			said += strings.TrimSpace(end.Output)
		}
	}
	if !strings.Contains(said, "hi") && b.agent != "gemini" { // which only describes the call
		b.Errorf("its tools said %q, want hi", said)
	}
}

// arrived looks at the receiver: key, model, prompt; and for the key where it
// must not be.
func (b *bench) arrived() {
	b.Helper()
	work := b.server.Work()
	if len(work) != 2 && !b.chatty || b.server.Left() != 0 {
		b.Fatalf("%d requests, %d answers left, want 2 and none", len(work), b.server.Left())
	}
	for _, r := range b.server.Requests() {
		if r.Dialect != "" && r.Key() != realKey {
			b.Errorf("%s came with the key %q", r.Path, r.Key())
		}
	}
	for _, r := range work {
		if (r.Model != b.model && r.Model != b.calls) || !strings.Contains(r.Body, "as the real tests ask.") {
			b.Errorf("%s asked %s for %s", r.Path, r.Model, r.Body)
		}
	}
	for name, kept := range b.Kept {
		if strings.Contains(kept.String(), realKey) {
			b.Errorf("%s holds the key", name)
		}
	}
}
