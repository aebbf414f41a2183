package job_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/stream"
)

// The opinion stands at the end of what was said after the last tool; of a long
// answer that end is kept.
func TestAnswered(t *testing.T) {
	say := func(text string) stream.Item { return stream.Text{Text: text} }
	var chatty []stream.Item
	for range 3000 {
		chatty = append(chatty, say(strings.Repeat("x", 99)))
	}
	for name, c := range map[string]struct {
		items []stream.Item
		size  int
		end   string
	}{
		"nothing":          {nil, 0, ""},
		"after a tool":     {[]stream.Item{say("I will look"), stream.ToolStart{}, say("done"), say("{}")}, 8, "done\n{}\n"},
		"before a tool":    {[]stream.Item{say("{}"), stream.ToolStart{}}, 3, "{}\n"},
		"in the result":    {[]stream.Item{stream.Result{Text: "{}"}}, 2, "{}"},
		"a failed result":  {[]stream.Item{stream.Result{Text: "{}", Failed: true}}, 0, ""},
		"a result as well": {[]stream.Item{say("{}"), stream.Result{Text: "{}"}}, 3, "{}\n"},
		"a long way there": {append(chatty, say("{}")), 64 << 10, "x\n{}\n"},
		"one that is long": {[]stream.Item{say(strings.Repeat("x", 1<<20) + "{}")}, 64 << 10, "x{}\n"},
		"a long result":    {[]stream.Item{stream.Result{Text: strings.Repeat("x", 1<<20) + "{}"}}, 64 << 10, "x{}"},
	} {
		got := job.Answered(c.items...)
		if len(got) != c.size || !strings.HasSuffix(got, c.end) {
			t.Errorf("%s: %d bytes that end with %q, want %d and %q", name, len(got), got[max(len(got)-8, 0):], c.size, c.end)
		}
	}
}
