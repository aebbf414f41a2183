package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// toolsOf returns the texts and tool calls of a page for these items.
func toolsOf(t *testing.T, items ...stream.Item) string {
	t.Helper()
	ended := paid(0)
	ended.Words, ended.Transcript = "the last words of the journal", journal.Attachment{Path: "transcript_1.ndjson"}
	s := report.Source{
		Hide: asIs,
		Read: func(string, string) (string, error) { return "a transcript", nil }, Items: func(string) []stream.Item { return items },
	}
	for i, event := range []journal.Event{began().event, journal.IterationBegan{Number: 1}, ended} {
		s.Entries = append(s.Entries, journal.Entry{Seq: i + 1, At: time.Unix(1_700_000_000, 0), Event: event})
	}
	_, page, _ := strings.Cut(html(t, s), "<summary>What the agent said</summary>")
	page, _, _ = strings.Cut(page, "</article>")
	return page
}

// The first end with the id of a call ends it. A call without an end is marked. Texts are
// in order.
func TestTools(t *testing.T) {
	page := toolsOf(t,
		stream.Text{Text: "I look.\n"}, stream.ToolStart{ID: "1", Name: "Read", Input: "a.go\nb.go"}, stream.ToolStart{ID: "2", Name: "Bash"},
		stream.ToolEnd{ID: "1", Output: "the first"}, stream.ToolEnd{ID: "1", Output: "not its"}, stream.ToolEnd{ID: "9", Output: "without a call"},
		stream.ToolStart{ID: "1", Name: "Grep", Input: "x"}, stream.ToolEnd{ID: "1", Output: "the second", Failed: true}, stream.Text{Text: "I saw."},
	)
	for _, want := range []string{
		"<pre>I look.\n\nI saw.</pre>",
		"<li><b>Read</b> <code>a.go b.go</code>\n<pre>the first</pre></li>",
		`<li><b>Bash</b> <span class="mark open">never ended</span></li>`,
		"<li><b>Grep</b> <code>x</code> <span class=\"mark bad\">failed</span>\n<pre>the second</pre></li>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("not on the page: %s\n%s", want, page)
		}
	}
	if strings.Contains(page, "not its") || strings.Contains(page, "without a call") || strings.Contains(page, "the last words") {
		t.Errorf("an end without a beginning is told:\n%s", page)
	}
}

// The newest of many calls are shown, and the others counted.
func TestManyTools(t *testing.T) {
	var items []stream.Item
	for i := range 1000 {
		id := fmt.Sprint(i)
		items = append(items, stream.ToolStart{ID: id, Name: "Call-" + id + "."}, stream.ToolEnd{ID: id, Output: strings.Repeat("x", 500)})
	}
	page := toolsOf(t, items...)
	shown := strings.Count(page, "<b>Call-")
	if !strings.Contains(page, "Call-999.") || shown < 10 || shown >= 1000 {
		t.Errorf("%d calls are shown", shown)
	}
	if want := fmt.Sprintf("%d earlier calls left out.", 1000-shown); !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
	if strings.Contains(page, fmt.Sprintf("Call-%d.", 1000-shown-1)) || strings.Contains(page, strings.Repeat("x", 401)) {
		t.Error("more is shown than is said")
	}
}
