package agent_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
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
	if err := os.Mkdir(filepath.Join(filepath.Dir(day), "20"), 0o700); err != nil {
		t.Fatal(err)
	}
	var used stream.Spent
	for _, file := range []struct {
		name   string
		in, to int64
		cut    int // a flag
		model  string
	}{
		{"rollout-10-thread-7", 100, 10, 0, "gpt-5"},
		{"rollout-11-thread-7", -100, -10, 0, ""},
		{"../20/rollout-9-thread-7", 5_000_000, 50, 0, "gpt-5"}, // earlier days are not read again
		{"rollout-12-thread-7", math.MinInt64, math.MinInt64, 0, ""},
		{"rollout-10-thread-7", 50, 5, 0, "gpt-5-mini"}, // less
		{"rollout-10-thread-7", 0, 0, os.O_TRUNC, "gpt-5-mini"},
		{"rollout-10-thread-7", 3_000_000, 30, 0, "gpt-5-mini"},
	} {
		f, err := os.OpenFile(filepath.Join(day, file.name+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY|file.cut, 0o600)
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
