package view

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/stream"
)

// Console makes the terminal lines for the items of an agent and the events of the
// journal. It keeps state: use one Console for each run, from one goroutine.
//
// Foreign text is indented or follows a sign, so that it cannot imitate a line of ralph.
type Console struct {
	Look Look
	Now  func() time.Time

	calls        calls
	tasks        []stream.Task
	lastText     string            // the agent's newest text
	agentBegan   time.Time         // when the agent was started
	agentEnded   bool              // its result was shown
	items        int               // number of items since the agent was started
	shownStories map[string]string // stories as they were last shown
	hasWritten   bool
	gapNext      bool // an empty line goes before the next row
}

// Item returns the text for an item, without a newline at its end. It is empty if there is nothing to show.
func (c *Console) Item(item stream.Item) string {
	at := c.Now()
	if c.agentBegan.IsZero() {
		c.agentBegan = at
	}
	c.items++
	rows := c.itemRows(item, at) // a result sets c.items to 0
	if c.items <= maxItems {
		return c.format(at, rows)
	}
	c.lastText, rows = "", nil // so that the result shows its text
	if c.items == maxItems+1 {
		rows = c.Look.textRow("·  ", "the transcript has the rest", faint)
	}
	return c.format(at, rows)
}

// maxItems is how many items are shown of one start of an agent, before its result.
const maxItems = 10_000

func (c *Console) itemRows(item stream.Item, at time.Time) []row {
	switch i := item.(type) {
	case stream.ToolStart:
		return c.toolStartRows(i)
	case stream.ToolEnd:
		return c.toolEndRows(i)
	case stream.Text:
		return c.textRows(i.Text)
	case stream.Todo:
		return c.todoRows(i)
	case stream.Progress:
		return c.Look.textRow("·  ", i.Text, faint)
	case stream.Retry:
		return c.Look.textRow(waitSign+" ", retryText(i), plain)
	case stream.Result:
		return c.resultRows(i, at)
	case stream.Spent: // the result has the sum
	}
	return nil
}

// format draws rows and remembers the empty lines and the tool call for the next one.
func (c *Console) format(at time.Time, rows []row) string {
	var out strings.Builder
	for i, r := range rows {
		if c.hasWritten && (r.gapBefore || c.gapNext) {
			out.WriteString("\n")
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(c.Look.draw(at, r))
		c.hasWritten, c.gapNext = true, r.gapAfter
		c.calls.newest = r.toolCall
	}
	return out.String()
}

// Limits for one text of the agent. The transcript has all of it.
const (
	maxLines = 400
	maxChars = 20000
)

func (c *Console) textRows(text string) []row {
	text = strings.Trim(scrub(text), " \n")
	if text == "" {
		return nil
	}
	c.lastText = text
	shown, more := c.Look.shorten(text, maxLines, maxChars)
	rows := []row{{gapBefore: true, lead: "› ", text: shown[0]}}
	for i, line := range shown[1:] {
		if line == "" && shown[i] == "" {
			continue // one empty line is enough
		}
		rows = append(rows, row{lead: "  ", text: line})
	}
	if more != "" {
		rows = append(rows, row{lead: "  ", text: more, tone: faint})
	}
	return rows
}

// todoRows shows the agent's list if it differs from the list shown last.
func (c *Console) todoRows(todo stream.Todo) []row {
	if len(todo.Tasks) == 0 || slices.Equal(c.tasks, todo.Tasks) {
		return nil
	}
	c.tasks = slices.Clone(todo.Tasks)
	rows := []row{{gapBefore: true, lead: "📋 ", text: "Todo List", tone: bold}}
	for _, task := range todo.Tasks[:min(len(todo.Tasks), maxTasks)] {
		rows = append(rows, c.Look.taskRow(task))
	}
	if left := len(todo.Tasks) - maxTasks; left > 0 {
		rows = append(rows, row{lead: "  ", text: c.Look.ownText("… and " + Plural(left, "more task")), tone: faint})
	}
	return append(rows, row{lead: "  📊 ", text: todoProgress(todo.Tasks), gapAfter: true})
}

const maxTasks = 40

type calls struct {
	open   []call
	newest string // the call on the newest line, if that line shows one
	begun  int
	failed int
}

type call struct{ id, name, input string }

const maxOpenCalls = 100

func (c *calls) start(started call) {
	c.begun++
	c.open = append(c.open, started)
	if len(c.open) > maxOpenCalls {
		c.open = c.open[1:]
	}
}

// end removes and returns the newest call with that id.
func (c *calls) end(id string) (call, bool) {
	for i, ended := range slices.Backward(c.open) {
		if ended.id == id {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return ended, true
		}
	}
	return call{}, false
}

func (c *Console) toolStartRows(s stream.ToolStart) []row {
	started := call{s.ID, terminalLine(s.Name), terminalLine(s.Input)}
	c.calls.start(started)
	text := started.name
	if started.input != "" {
		shown, more := c.Look.shorten(started.input, 1, c.Look.MaxChars)
		text += "(" + strings.TrimSuffix(shown[0]+" "+more, " ") + ")"
	}
	return []row{{lead: "⏺ ", text: text, toolCall: s.ID}}
}

// toolEndRows repeats the start of the call's input unless its own line is directly above.
func (c *Console) toolEndRows(e stream.ToolEnd) []row {
	sign := goodSign
	if e.Failed {
		sign = badSign
		c.calls.failed++
	}
	text := "Result"
	ended, known := c.calls.end(e.ID)
	if known {
		text += c.Look.ownText(" ← ") + ended.name
	}
	if known && c.calls.newest != e.ID && ended.input != "" {
		text += "(" + c.Look.clip(ended.input, 40) + ")"
	}
	output := strings.Trim(scrub(e.Output), "\n")
	rows := []row{{lead: sign + " ", text: text + " (" + sizeText(output) + ")"}}
	return append(rows, c.Look.outputRows(output, faint)...)
}

func sizeText(output string) string {
	if output == "" {
		return "no output"
	}
	return Plural(strings.Count(output, "\n")+1, "line") + ", " + Plural(utf8.RuneCountInString(output), "char")
}

// outputRows returns the beginning of a tool's output. Lines are cut, not wrapped, to keep columns aligned.
func (l Look) outputRows(output string, t tone) []row {
	if output == "" {
		return nil
	}
	shown, more := l.shorten(output, l.MaxLines, l.MaxChars)
	var rows []row
	for _, line := range shown {
		rows = append(rows, row{lead: "     ", text: line, tone: t, clip: true})
	}
	rows[0].lead = "  ⎿  "
	if more != "" {
		rows = append(rows, row{lead: "     ", text: more, tone: faint})
	}
	return rows
}

// beginning returns the first characters of text, all of it for 0.
func beginning(text string, chars int) string {
	if chars <= 0 || len(text) <= chars {
		return text
	}
	for i := range text {
		if chars--; chars < 0 {
			return text[:i]
		}
	}
	return text
}

// shorten returns the first lines of text, and a text about the cut rest. 0 is no limit.
func (l Look) shorten(text string, lines, chars int) (shown []string, more string) {
	kept := beginning(text, chars)
	shown = strings.Split(kept, "\n")
	if lines > 0 && len(shown) > lines {
		shown = shown[:lines]
		kept = strings.Join(shown, "\n")
	}
	gone := text[len(kept):]
	leftLines := strings.Count(gone, "\n")
	leftChars := utf8.RuneCountInString(gone) - leftLines
	switch {
	case gone == "":
		return shown, ""
	case leftLines > 0:
		return shown, l.ownText(fmt.Sprintf("… %s, %s", Plural(leftLines, "more line"), Plural(leftChars, "char")))
	}
	return shown, l.ownText("… " + Plural(leftChars, "more char"))
}
