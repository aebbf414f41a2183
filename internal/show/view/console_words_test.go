package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The closing line has the counts of one agent only.
func TestClosingLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	console := view.Console{Look: view.Look{Emoji: true}, Now: func() time.Time { return at }}
	for i := range 58 {
		id := fmt.Sprint(i)
		console.Item(stream.ToolStart{ID: id, Name: "Read"})
		console.Item(stream.ToolEnd{ID: id, Failed: i < 4})
	}
	at = at.Add(6*time.Minute + 7*time.Second)
	result := stream.Result{
		Usage: stream.Usage{Input: 350_000, CacheRead: 850_000, Output: 45_000},
		Cost:  stream.Cost{USD: 5.76, Known: true},
	}
	want := "\n✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 58, errors: 4, time: 6m7s)"
	if got := console.Item(result); got != want {
		t.Errorf("Item(Result) = %q, want %q", got, want)
	}
	want = "\n✅ Complete (cost: $5.76, tokens: 1.2M in (850K cached) / 45K out, tools: 0, errors: 0, time: 0s)"
	if got := console.Item(result); got != want {
		t.Errorf("the next agent's line = %q, want %q", got, want)
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int64]string{
		1: "1", 999: "999", 1000: "1K", 1234: "1.2K", 9_949: "9.9K", 9_950: "10K", 45_123: "45K",
		999_499: "999K", 999_500: "1M", 1_200_000: "1.2M", 850_000_000: "850M", 2_000_000_000: "2B", 5_000_000_000_000: "5000B",
	} {
		if got := view.Tokens(stream.Usage{Output: n}); got != "0 in / "+want+" out" {
			t.Errorf("Tokens(%d) = %q, want 0 in / %s out", n, got, want)
		}
	}
}

func TestLookFor(t *testing.T) {
	for _, c := range []struct {
		why          string
		env          map[string]string
		tty          bool
		emoji, color bool
		width        int
	}{
		{"a terminal", map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, true, true, true, 80},
		{"a pipe", map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, false, false, false, 0},
		{"a pipe that wants colour", map[string]string{"CLICOLOR_FORCE": "1"}, false, false, true, 0},
		{"no colour, please", map[string]string{"TERM": "xterm-256color", "LANG": "C.utf8", "NO_COLOR": "1"}, true, true, false, 80},
		{"which is above all", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false, false, 80},
		{"an editor's shell", map[string]string{"TERM": "dumb", "LANG": "en_US.UTF-8"}, true, false, false, 80},
		{"a job", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "CI": "true"}, true, false, false, 0},
		{"not a job", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "CI": "false"}, true, true, true, 80},
		{"an old locale", map[string]string{"TERM": "xterm", "LANG": "de_DE.ISO-8859-1"}, true, false, true, 80},
		{"LC_ALL over LANG", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "LC_ALL": "C"}, true, false, true, 80},
		{"no locale", map[string]string{"TERM": "xterm"}, true, false, true, 80},
	} {
		got := view.LookFor(func(key string) string { return c.env[key] }, c.tty, 80)
		want := view.Look{Emoji: c.emoji, Color: c.color, Width: c.width, MaxLines: got.MaxLines, MaxChars: got.MaxChars}
		if got != want || got.MaxLines == 0 || got.MaxChars == 0 {
			t.Errorf("%s: LookFor = %+v, want %+v", c.why, got, want)
		}
	}
}

// Stories are shown when the run begins, and not again after an iteration.
func TestStoriesOnceEach(t *testing.T) {
	begun := journal.RunBegan{Run: "r1", Policy: policy.Policy{Agent: "claude"}, Level: "none"}
	for i := range 30 {
		begun.Plan.UserStories = append(begun.Plan.UserStories, plan.Story{ID: fmt.Sprint("US-", i), Title: "a story"})
	}
	console := view.Console{Now: time.Now}
	folded := journal.Fold(journal.Run{}, journal.Entry{Event: begun})
	first := console.Event(folded, begun)
	if n := strings.Count(first, "a story"); n != 20 || !strings.HasSuffix(first, "… and 10 more") {
		t.Errorf("%d stories are shown, want 20 and the number of the rest:\n%s", n, first)
	}
	ended := journal.IterationEnded{Story: "US-0"}
	if got := console.Event(folded, ended); strings.Contains(got, "a story") {
		t.Errorf("nothing changed, and yet: %s", got)
	}
}
