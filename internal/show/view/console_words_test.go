package view_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

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
		{"which is above all", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false, false, 80},
		{"an editor's shell", map[string]string{"TERM": "dumb", "LANG": "en_US.UTF-8"}, true, false, false, 80},
		{"a job", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "CI": "true"}, true, false, false, 0},
		{"an old locale", map[string]string{"TERM": "xterm", "LANG": "de_DE.ISO-8859-1"}, true, false, true, 80},
		{"LC_ALL over LANG", map[string]string{"TERM": "xterm", "LANG": "en_US.UTF-8", "LC_ALL": "C"}, true, false, true, 80},
	} {
		got := view.LookFor(func(key string) string { return c.env[key] }, c.tty, 80)
		want := view.Look{Emoji: c.emoji, Color: c.color, Width: c.width, MaxLines: got.MaxLines, MaxChars: got.MaxChars}
		if got != want || got.MaxLines == 0 || got.MaxChars == 0 {
			t.Errorf("%s: LookFor = %+v, want %+v", c.why, got, want)
		}
	}
}
