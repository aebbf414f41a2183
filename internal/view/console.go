package view

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/stream"
)

// Console makes lines for a person at a terminal of what an agent says while
// it works and of what the journal gets to hold. It remembers what ties lines
// together, so there is one for a run, and one caller at a time.
//
// Whatever an agent or an outsider wrote is indented or stands behind a sign
// of ours; nothing of theirs begins a line, so nothing can pass for one of the
// run's own.
type Console struct {
	Look Look
	Now  func() time.Time // nil: no times on what the agent says

	calls calls
	tasks []stream.Task
	said  string            // the agent's newest words
	began time.Time         // when the agent was started
	ended bool              // its closing line was shown
	told  map[string]string // stories as they were last shown
	spoke bool
	apart bool // an empty line goes before whatever comes next
}

// Item is the text of item, without a newline at its end; empty if it is no
// news.
func (c *Console) Item(item stream.Item) string {
	at := c.now()
	if c.began.IsZero() {
		c.began = at
	}
	return c.write(at, c.heard(item, at))
}

func (c *Console) heard(item stream.Item, at time.Time) []row {
	switch i := item.(type) {
	case stream.ToolStart:
		return c.start(i)
	case stream.ToolEnd:
		return c.end(i)
	case stream.Text:
		return c.text(i.Text)
	case stream.Todo:
		return c.todo(i)
	case stream.Progress:
		return c.Look.say("·  ", i.Text, faint)
	case stream.Retry:
		return c.Look.say(waitSign+" ", waiting(i), plain)
	case stream.Result:
		return c.result(i, at)
	case stream.Spent: // the closing line has the sum
	}
	return nil
}

func (c *Console) now() time.Time {
	if c.Now == nil {
		return time.Time{}
	}
	return c.Now()
}

// write is rows as they go to the terminal.
func (c *Console) write(at time.Time, rows []row) string {
	var out strings.Builder
	for i, r := range rows {
		if c.spoke && (r.gap || c.apart) {
			out.WriteString("\n")
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(c.Look.draw(at, r))
		c.spoke, c.apart = true, r.apart
		c.calls.newest = r.call
	}
	return out.String()
}

// Words of an agent beyond these are a flood; its transcript has them all.
const (
	mostLines = 400
	mostChars = 20000
)

func (c *Console) text(text string) []row {
	text = strings.Trim(scrub(text), " \n")
	if text == "" {
		return nil
	}
	c.said = text
	shown, more := c.Look.shorten(text, mostLines, mostChars)
	rows := []row{{gap: true, lead: "› ", text: shown[0]}}
	for i, line := range shown[1:] {
		if line == "" && shown[i] == "" {
			continue // one empty line parts as well as many
		}
		rows = append(rows, row{lead: "  ", text: line})
	}
	if more != "" {
		rows = append(rows, row{lead: "  ", text: more, tone: faint})
	}
	return rows
}

// todo is the agent's list, if it is another than the one shown last.
func (c *Console) todo(todo stream.Todo) []row {
	if len(todo.Tasks) == 0 || slices.Equal(c.tasks, todo.Tasks) {
		return nil
	}
	c.tasks = slices.Clone(todo.Tasks)
	rows := []row{{gap: true, lead: "📋 ", text: "Todo List", tone: bold}}
	for _, task := range todo.Tasks[:min(len(todo.Tasks), mostTasks)] {
		rows = append(rows, c.Look.task(task))
	}
	if left := len(todo.Tasks) - mostTasks; left > 0 {
		rows = append(rows, row{lead: "  ", text: c.Look.ours("… and " + plural(left, "more task")), tone: faint})
	}
	return append(rows, row{lead: "  📊 ", text: done(todo.Tasks), apart: true})
}

const mostTasks = 40

// calls are the tools an agent is using, and how often it did.
type calls struct {
	open   []call
	newest string // the call whose line is the newest of all, else empty
	begun  int
	failed int
}

type call struct{ id, name, input string }

// mostOpen bounds what is remembered of tools that never end.
const mostOpen = 100

func (c *calls) start(started call) {
	c.begun++
	c.open = append(c.open, started)
	if len(c.open) > mostOpen {
		c.open = c.open[1:]
	}
}

// end takes the newest call with that id out.
func (c *calls) end(id string) (call, bool) {
	for i, ended := range slices.Backward(c.open) {
		if ended.id == id {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return ended, true
		}
	}
	return call{}, false
}

func (c *Console) start(s stream.ToolStart) []row {
	started := call{s.ID, lineOf(s.Name), lineOf(s.Input)}
	c.calls.start(started)
	text := started.name
	if started.input != "" {
		shown, more := c.Look.shorten(started.input, 1, c.Look.MaxChars)
		text += "(" + strings.TrimSuffix(shown[0]+" "+more, " ") + ")"
	}
	return []row{{lead: "⏺ ", text: text, call: s.ID}}
}

// end tells how a tool did. Its name alone says which one where its own line
// is the one before; else some of its input is said again.
func (c *Console) end(e stream.ToolEnd) []row {
	sign := goodSign
	if e.Failed {
		sign = badSign
		c.calls.failed++
	}
	text := "Result"
	ended, known := c.calls.end(e.ID)
	if known {
		text += c.Look.ours(" ← ") + ended.name
	}
	if known && c.calls.newest != e.ID && ended.input != "" {
		text += "(" + c.Look.clip(ended.input, 40) + ")"
	}
	output := strings.Trim(scrub(e.Output), "\n")
	rows := []row{{lead: sign + " ", text: text + " (" + size(output) + ")"}}
	return append(rows, c.Look.quote(output, faint)...)
}

func size(output string) string {
	if output == "" {
		return "no output"
	}
	return plural(strings.Count(output, "\n")+1, "line") + ", " + plural(utf8.RuneCountInString(output), "char")
}

// quote is the beginning of what a tool said. Its lines are cut rather than
// wrapped: what stands below each other in them is to stay so.
func (l Look) quote(output string, t tone) []row {
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

// shorten is the beginning of text in lines, and how much was left out; a
// limit of 0 is none.
func (l Look) shorten(text string, lines, chars int) (shown []string, more string) {
	kept := text
	if all := []rune(text); chars > 0 && len(all) > chars {
		kept = string(all[:chars])
	}
	shown = strings.Split(kept, "\n")
	if lines > 0 && len(shown) > lines {
		shown = shown[:lines]
		kept = strings.Join(shown, "\n")
	}
	gone := text[len(kept):]
	leftLines, leftChars := strings.Count(gone, "\n"), utf8.RuneCountInString(strings.ReplaceAll(gone, "\n", ""))
	switch {
	case gone == "":
		return shown, ""
	case leftLines > 0:
		return shown, l.ours(fmt.Sprintf("… %s, %s", plural(leftLines, "more line"), plural(leftChars, "char")))
	}
	return shown, l.ours("… " + plural(leftChars, "more char"))
}
