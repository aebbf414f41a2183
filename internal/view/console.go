package view

import (
	"slices"
	"strings"
	"time"

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

// Item is what there is to show of item, without a newline at its end; empty
// for what is no news.
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
