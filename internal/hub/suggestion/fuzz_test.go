package suggestion_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/hub/suggestion"
)

// FuzzPut holds that a suggestion changes its own lines and no other.
func FuzzPut(f *testing.F) {
	f.Add("a\nb\nc\n", 2, 2, "x\ny\n")
	f.Add("a\r\nb\r\nc", 3, 3, "")
	f.Add("", 1, 1, "x")
	f.Fuzz(func(t *testing.T, file string, from, to int, text string) {
		got, fits := suggestion.Put([]byte(file), plan.Suggestion{From: from, To: to, Text: text})
		if !fits {
			return
		}
		lines := strings.SplitAfter(file, "\n")
		before, after := strings.Join(lines[:from-1], ""), strings.Join(lines[to:], "")
		if !bytes.HasPrefix(got, []byte(before)) || !bytes.HasSuffix(got, []byte(after)) || len(got) < len(before)+len(after) {
			t.Errorf("lines %d to %d of %q with %q are %q", from, to, file, text, got)
		}
		if bytes.Equal(got, []byte(file)) {
			t.Errorf("%q fits and changes nothing of %q", text, file)
		}
	})
}
