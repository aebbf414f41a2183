package view_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// FuzzConsole checks that the only escape sequences are ralph's colours, that every line
// fits, and that no foreign line begins like a line of ralph.
func FuzzConsole(f *testing.F) {
	for _, text := range append(nasty, "宽字符 \u1100\u1100\u1160 e\u0301\u0301\u0301\u0301\u0301\u0301", "\U0001F1E9\U0001F1EA 👍🏽 1\u20e3 ⸻", "\x1b\x1b[31m[2J", "\u009b2J\u0085x", "\x1b]0;x\x1b\\y") {
		f.Add(text, 0, true, true)
		f.Add(text, 40, true, false)
		f.Add(text, 24, false, true)
	}
	ours := regexp.MustCompile("\x1b\\[[0-9]+m")
	f.Fuzz(func(t *testing.T, text string, width int, emoji, color bool) {
		look := view.Look{Emoji: emoji, Color: color, Width: width % 200, MaxLines: 5, MaxChars: 500}
		shown := ours.ReplaceAllString(all(look, text), "")
		if !color && strings.Contains(shown, "\x1b") || !utf8.ValidString(shown) {
			t.Errorf("%q is shown as %q", text, shown)
		}
		for line := range strings.SplitSeq(shown, "\n") {
			if bad := strings.IndexFunc(strings.ReplaceAll(line, "⏸️", "  "), obeyed); bad >= 0 {
				t.Errorf("%q is shown as %q", text, line)
			}
			if n := cellWidth(line); look.Width > 0 && n > max(look.Width, 24) {
				t.Errorf("%q takes %d cells of %d", line, n, look.Width)
			}
		}
	})
}

func obeyed(r rune) bool { return unicode.IsControl(r) || clean.IsInvisible(r) }

// cellWidth returns the maximum of cells that a terminal uses for a line.
func cellWidth(line string) int {
	sum := 0
	for _, r := range line {
		sum += uniseg.StringWidth(string(r))
	}
	return max(sum, uniseg.StringWidth(line))
}

// all returns every kind of item, and all events with foreign text.
func all(look view.Look, text string) string {
	console := view.Console{Look: look, Now: func() time.Time { return time.Unix(0, 0).UTC() }}
	var out []string
	for _, item := range []stream.Item{
		stream.Text{Text: text},
		stream.ToolStart{ID: text, Name: text, Input: text},
		stream.ToolStart{ID: "2", Name: text, Input: text + text},
		stream.ToolEnd{ID: text, Output: strings.Repeat(text+"\n", 7)},
		stream.Todo{Tasks: []stream.Task{{Text: text}, {Text: text, State: stream.TaskActive}}},
		stream.Progress{Text: text},
		stream.Retry{Reason: text},
		stream.Result{Failed: true, Text: text, Reason: text},
	} {
		out = append(out, console.Item(item))
	}
	out = append(out, console.Checking("check", policy.Check{Name: text}))
	folded, entries := run(text)
	for _, entry := range entries {
		out = append(out, console.Event(folded, entry.Event))
	}
	return strings.Join(out, "\n")
}
