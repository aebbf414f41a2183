package clean_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func TestLogLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ok: all 3 passed", "ok: all 3 passed"},
		{"::add-mask::x", ": :add-mask::x"},
		{"  ::set-output name=a::b", "  : :set-output name=a::b"},
		{":::error:::x", ": : :error:::x"},
		{"see ##[error]x", "see ## [error]x"},
		{"50%\r::error::x", `50%\r::error::x`},
		{"a\nb", `a\nb`},
		{"\x1b[31mred\x00", `\x1b[31mred\x00`},
		{"#\u200b#[error]", `#\u{200b}#[error]`},
		{"std::vector\ta", "std::vector\ta"},
		{"\u070f::error::x", "\u070f: :error::x"}, // drawn, and of no weight where texts are compared
		{"1 é ::error::x", "1 é : :error::x"},
		{"refused: [::1]:443, a::b", "refused: [::1]:443, a::b"},
		{"##[::1] [::set-output]", "## [: :1] [: :set-output]"},
	} {
		if got := clean.LogLine(c.in); got != c.want {
			t.Errorf("LogLine(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// isCommand reads line as the runner does (ActionCommand.TryParseV2 and
// TryParse), but for any name, and without what its culture-aware search
// skips.
func isCommand(line string) bool {
	line = strings.Map(func(r rune) rune {
		if r != '\t' && (unicode.IsControl(r) || clean.IsInvisible(r)) {
			return -1
		}
		return r
	}, line)
	if data, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok && strings.Contains(data, "::") {
		return true
	}
	_, rest, found := strings.Cut(line, "##[")
	return found && strings.Contains(rest, "]")
}

func FuzzLogLine(f *testing.F) {
	for _, s := range []string{"[::1]::a::b", "##[::a]", "::a::b", " ::a b=c::d", "x##[a]b", "##[a b=c;]d", ":\u00ad:a::", "#\r#[a]", "\u2028::a::b", "::\xff::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		out := clean.LogLine(line)
		if isCommand(out) {
			t.Errorf("LogLine(%q) = %q is a command", line, out)
		}
		if strings.ContainsFunc(out, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("LogLine(%q) = %q holds control characters", line, out)
		}
	})
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		" a\tb\r\n\nc ":              "a b c",
		"a\x1b[1mb\x00\u0085c\u2028": "a [1mb c",
	} {
		if got := clean.OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}
