package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/stream"
)

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
