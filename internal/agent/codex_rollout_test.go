package agent_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// An agent that fills the folders of Codex's sessions does not fill ralph's memory with their names.
func TestManyRollouts(t *testing.T) {
	dir := t.TempDir()
	for day := range 10 {
		folder := filepath.Join(dir, "2026", "11", fmt.Sprintf("%02d", day+10))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("rollout-%d%d-T.jsonl", day, i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	length := len(filepath.Join(dir, "2026", "11", "10", "rollout-00-T.jsonl"))
	for most, want := range map[int]int{100 * length: 100, 42 * length: 42} {
		if got := agent.FindRollouts(dir, "T", most); len(got) != want {
			t.Errorf("%d files are kept, want %d", len(got), want)
		}
	}
}

// Nor do links that each lead through many others hold ralph up.
func TestRolloutsAreSoughtForALimitedTime(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "2026", "11", "10", "rollout-0-T.jsonl")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	agent.LeaveNoTime(t.Cleanup)
	if got := agent.FindRollouts(dir, "T", 1<<20); len(got) != 0 {
		t.Errorf("found %q, with no time", got)
	}
}

// A file that the agent writes itself takes nothing from what Codex's own files say.
func TestForgedRollouts(t *testing.T) {
	decoder, day := codexSessions(t)
	const line = `{"type":"session_meta","payload":{"id":"thread-7"}}` + "\n" + `{"type":"turn_context","payload":{"model":%q}}` + "\n" +
		`{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"output_tokens":%d}}}}` + "\n"
	var used stream.Spent
	for _, file := range []struct {
		name   string
		in, to int64
		cut    int // a flag
		model  string
	}{
		{"10-thread-7", 100, 10, 0, "gpt-5"},
		{"11-x", -100, -10, 0, ""},
		{"12-x", math.MinInt64, math.MinInt64, 0, ""},
		{"10-thread-7", 50, 5, 0, "gpt-5-mini"}, // less
		{"10-thread-7", 0, 0, os.O_TRUNC, "gpt-5-mini"},
		{"10-thread-7", 3_000_000, 30, 0, "gpt-5-mini"},
	} {
		f, err := os.OpenFile(filepath.Join(day, "rollout-"+file.name+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY|file.cut, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(f, line, file.model, file.in, file.to)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, item := range decoder.Follow() {
			used = item.(stream.Spent)
		}
	}
	if want := (stream.Usage{Input: 3_000_000, Output: 30}); used.Usage != want || used.Boundless || used.Cost.USD < 3 {
		t.Errorf("%+v is counted, want %+v of the first model", used, want)
	}
}

// A thread that begins with the history of another has its own model after that: the dearer one counts.
func TestForkedRollouts(t *testing.T) {
	decoder, day := codexSessions(t)
	const meta, model = `{"type":"session_meta","payload":{"id":"x","forked_from_id":"thread-7"}}` + "\n", `{"type":"turn_context","payload":{"model":%q}}` + "\n"
	const used = `{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1000000}}}}` + "\n"
	for name, text := range map[string]string{
		"10-thread-7": `{"payload":{"id":"thread-7"}}` + "\n" + fmt.Sprintf(model, "gpt-5-mini"),
		"11-x":        meta + fmt.Sprintf(model+model+model, "gpt-5-mini", "gpt-5", "gpt-5-mini") + used,
	} {
		if err := os.WriteFile(filepath.Join(day, "rollout-"+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	items := decoder.Follow()
	if want, known := price.Of("gpt-5", price.Tokens{Input: 1_000_000}, nil); !known || len(items) != 1 || items[0].(stream.Spent).Cost.USD != want {
		t.Errorf("%+v is counted, want $%v", items, want)
	}
}

// What was used stays known once the session's file is gone. A hole in it hides nothing that comes after.
func TestRemovedRollouts(t *testing.T) {
	decoder, day := codexSessions(t)
	file := filepath.Join(day, "rollout-10-thread-7.jsonl")
	const line = `{"payload":{"id":"thread-7","type":"token_count","info":{"total_token_usage":{"input_tokens":%d}}}}` + "\n"
	const model = `{"type":"turn_context","payload":{"model":"gpt-5"}}` + "\n"
	var used stream.Spent
	follow := func() {
		for _, item := range decoder.Follow() {
			used = item.(stream.Spent)
		}
	}
	for i, change := range []func() error{
		func() error { return os.WriteFile(file, fmt.Appendf(nil, line+model+line, 1, 7), 0o600) },
		func() error {
			follow()
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
			if err == nil {
				_, failed := fmt.Fprintf(f, "\n"+line, 20)
				err = errors.Join(f.Truncate(1<<40), failed)
				_, failed = fmt.Fprintf(f, "\n"+line, 30)
				err = errors.Join(err, failed, f.Close())
			}
			return err
		},
		func() error { return os.Remove(file) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		follow()
		if want := []int64{7, 30, 30}[i]; used.Usage.Input != want {
			t.Errorf("step %d: %+v", i, used)
		}
	}
}
