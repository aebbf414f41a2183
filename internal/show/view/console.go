package view

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Console makes the terminal lines for the items of an agent and the events of the
// journal. It keeps state: use one Console for each run, from one goroutine.
//
// Foreign text is indented or follows a sign, so that it cannot imitate a line of ralph.
type Console struct {
	Look Look
	Now  func() time.Time

	calls      calls
	tasks      []stream.Task
	lastText   string    // the agent's newest text
	agentBegan time.Time // when the agent was started
	agentEnded bool      // its result was shown
	hasWritten bool
}

// Item returns the text for an item, without a newline at its end. It is empty if there is nothing to show.
func (c *Console) Item(item stream.Item) string {
	at := c.Now()
	if c.agentBegan.IsZero() {
		c.agentBegan = at
	}
	return c.format(c.itemRows(item, at))
}

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
		return textRow("·  ", i.Text, faint)
	case stream.Retry:
		return textRow(waitSign+" ", retryText(i), plain)
	case stream.Result:
		return c.resultRows(i, at)
	case stream.Spent: // the result has the sum
	}
	return nil
}

// format draws rows and remembers the tool call for the next one.
func (c *Console) format(rows []row) string {
	var out strings.Builder
	for i, r := range rows {
		if c.hasWritten && r.gapBefore {
			out.WriteString("\n")
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(c.Look.draw(r))
		c.hasWritten = true
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
	shown, more := shorten(text, maxLines, maxChars)
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
	for _, task := range todo.Tasks {
		rows = append(rows, taskRow(task))
	}
	return append(rows, row{lead: "  📊 ", text: todoProgress(todo.Tasks)})
}

type calls struct {
	open   map[string]call // by id
	newest string          // the call on the newest line, if that line shows one
	begun  int
	failed int
}

type call struct{ name, input string }

// maxOpenCalls limits the calls without an end that are remembered: an agent can begin calls without number.
const maxOpenCalls = 1000

func (c *Console) toolStartRows(s stream.ToolStart) []row {
	started := call{terminalLine(s.Name), terminalLine(s.Input)}
	c.calls.begun++
	if c.calls.open == nil || len(c.calls.open) >= maxOpenCalls {
		c.calls.open = map[string]call{}
	}
	c.calls.open[s.ID] = started
	text := started.name
	if started.input != "" {
		shown, more := shorten(started.input, 1, c.Look.MaxChars)
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
	if ended, known := c.calls.open[e.ID]; known {
		delete(c.calls.open, e.ID)
		text += " ← " + ended.name
		if c.calls.newest != e.ID && ended.input != "" {
			text += "(" + clip(ended.input, 40) + ")"
		}
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
	shown, more := shorten(output, l.MaxLines, l.MaxChars)
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
		if chars == 0 {
			return text[:i]
		}
		chars--
	}
	return text
}

// shorten returns the first lines of text, and a text about the cut rest. 0 is no limit.
func shorten(text string, lines, chars int) ([]string, string) {
	kept := beginning(text, chars)
	shown := strings.Split(kept, "\n")
	if lines > 0 && len(shown) > lines {
		shown = shown[:lines]
		kept = strings.Join(shown, "\n")
	}
	rest := text[len(kept):]
	leftLines := strings.Count(rest, "\n")
	leftChars := utf8.RuneCountInString(rest) - leftLines
	switch {
	case rest == "":
		return shown, ""
	case leftLines > 0:
		return shown, fmt.Sprintf("… %s, %s", Plural(leftLines, "more line"), Plural(leftChars, "char"))
	}
	return shown, "… " + Plural(leftChars, "more char")
}
