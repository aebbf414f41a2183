package suggestion_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/hub/suggestion"
)

func TestPut(t *testing.T) {
	for _, c := range []struct {
		why, file string
		from, to  int
		text      string
		want      string // empty: it does not fit
	}{
		{"a line", "a\nb\nc\n", 2, 2, "x\n", "a\nx\nc\n"},
		{"several for one", "a\nb\nc\n", 2, 2, "x\n\n\ty\n", "a\nx\n\n\ty\nc\n"},
		{"one for several", "a\nb\nc\n", 1, 3, "x\n", "x\n"},
		{"nothing for a line", "a\nb\nc\n", 2, 2, "", "a\nc\n"},
		{"a blank line", "a\nb\nc\n", 2, 2, "\n", "a\n\nc\n"},
		{"lines that end as on Windows", "a\r\nb\r\n", 2, 2, "x\ny\n", "a\r\nx\r\ny\r\n"},
		{"the last line, which has no end", "a\nb", 2, 2, "x\ny\n", "a\nx\ny"},
		{"the whole of a file", "a\n", 1, 1, "", ""},
		{"a line that is not there", "a\nb\n", 3, 3, "x\n", ""},
		{"no line", "a\n", 0, 0, "x\n", ""},
		{"lines in the wrong order", "a\nb\n", 2, 1, "x\n", ""},
		{"an empty file", "", 1, 1, "x\n", ""},
		{"what is there already", "a\nb\n", 2, 2, "b\n", ""},
	} {
		got, fits := suggestion.Put([]byte(c.file), plan.Suggestion{From: c.from, To: c.to, Text: c.text})
		if whole := c.why == "the whole of a file"; string(got) != c.want && fits || fits != (c.want != "" || whole) {
			t.Errorf("%s: Put = %q, %t, want %q", c.why, got, fits, c.want)
		}
	}
}
