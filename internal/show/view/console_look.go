package view

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Look has the options for console lines. The zero Look writes them at any length.
type Look struct {
	Emoji    bool // else markers such as [OK]
	Color    bool
	Width    int // cells of a line, at least 24; 0 is no limit
	MaxLines int // of a tool's output; 0 is no limit
	MaxChars int // of a tool's output, and of its input; 0 is no limit
}

const minWidth = 24

// LookFor returns the look for an output. Emoji need a locale with UTF-8. NO_COLOR wins over CLICOLOR_FORCE.
func LookFor(getenv func(string) string, tty bool, width int) Look {
	if ci := getenv("CI"); ci != "" && ci != "false" {
		tty = false
	}
	look := Look{MaxLines: 8, MaxChars: 800}
	capable := tty && getenv("TERM") != "dumb"
	if tty {
		look.Width = max(width, 0)
		look.Emoji = capable && unicodeIn(getenv)
	}
	isForced := getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0"
	isAllowed := capable && getenv("CLICOLOR") != "0"
	look.Color = getenv("NO_COLOR") == "" && (isForced || isAllowed)
	return look
}

// unicodeIn reports whether the locale has UTF-8. It reads the variables in the C library's order.
func unicodeIn(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(key)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

const (
	goodSign  = "✅"
	badSign   = "❌"
	waitSign  = "⏳"
	openSign  = "⬜"
	warnSign  = "❗"
	plainSign = "· "
)

// plainSigns replaces the signs at the start of a line.
var plainSigns = strings.NewReplacer(
	goodSign, "[OK]", badSign, "[ERR]", waitSign, "[..]", openSign, "[  ]", warnSign, "[!!]",
	"🔄", "[..]", "⏸️", "[  ]", "➖", "[--]", "🚀", "[..]", "🛑", "[ERR]",
	"📋 ", "", "📊 ", "", "💰", "-", "·  ", "- ",
	"⏺", "*", "›", ">", "⎿", "|",
)

// tone is the parameter of a terminal's colour sequence. The basic colours are those that users configure to be
// readable.
type tone string

const (
	plain  tone = ""
	faint  tone = "2"
	bold   tone = "1"
	green  tone = "32"
	red    tone = "31"
	yellow tone = "33"
	cyan   tone = "36"
)

var signTones = map[string]tone{
	goodSign: green,
	badSign:  red, "🛑": red,
	waitSign: yellow, warnSign: yellow,
	"🔄": cyan, "⏺": cyan,
	"⎿": faint, "·": faint, "➖": faint,
}

func (l Look) paint(text string, t tone) string {
	if !l.Color || text == "" || t == plain {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}

// retryText returns how long the agent waits before it asks the model again, and why.
func retryText(r stream.Retry) string {
	why := cmp.Or(terminalLine(r.Reason), "the model did not answer")
	return "waiting " + policy.FormatDuration(r.Delay) + ": " + why
}

func taskRow(task stream.Task) row {
	sign := "⏸️"
	note := ""
	t := plain
	switch task.State {
	case stream.TaskDone:
		sign, t = goodSign, faint
	case stream.TaskActive:
		sign = "🔄"
		note = " ← ACTIVE"
		t = bold
	case stream.TaskPending:
	}
	return row{lead: "  " + sign + " ", text: terminalLine(task.Text) + note, tone: t}
}

// todoProgress returns, for example, "Progress: 1/3 (33%)".
func todoProgress(tasks []stream.Task) string {
	n := 0
	for _, task := range tasks {
		if task.State == stream.TaskDone {
			n++
		}
	}
	return fmt.Sprintf("Progress: %d/%d (%d%%)", n, len(tasks), 100*n/len(tasks))
}

// resultRows returns the end of an agent with its totals, and resets the state of the agent.
func (c *Console) resultRows(r stream.Result, at time.Time) []row {
	var rows []row
	text := strings.Trim(scrub(r.Text), " \n")
	if !r.Failed && text != c.lastText {
		rows = c.textRows(text) // some agents send their last text only here
	}
	sign, outcome := goodSign, "Complete"
	if r.Failed {
		sign, outcome = badSign, failureText(r)
	}
	rows = append(rows, row{
		gapBefore: true,
		lead:      sign + " ",
		text:      outcome + " (" + c.totalsText(r, at) + ")",
		tone:      bold,
	})
	if r.Failed && text != "" {
		rows = append(rows, c.Look.outputRows(text, plain)...)
	}
	c.resetAgent()
	c.agentEnded = true
	return rows
}

func failureText(r stream.Result) string {
	text := "Failed"
	if reason := terminalLine(r.Reason); reason != "" {
		text += ": " + reason
	}
	if r.Status != 0 {
		text += fmt.Sprintf(", status %d", r.Status)
	}
	return text
}

func (c *Console) resetAgent() {
	c.calls = calls{}
	c.tasks = nil
	c.lastText = ""
	c.agentBegan = time.Time{}
	c.agentEnded = false
}

func (c *Console) totalsText(r stream.Result, at time.Time) string {
	return fmt.Sprintf("cost: %s, tokens: %s, tools: %d, errors: %d, time: %s",
		CostText(r.Cost.USD, r.Cost.Known), Tokens(r.Usage),
		c.calls.begun, c.calls.failed, policy.FormatDuration(at.Sub(c.agentBegan)))
}

// Tokens returns how many tokens an agent used.
func Tokens(u stream.Usage) string {
	if u == (stream.Usage{}) {
		return "unknown"
	}
	in := tokenCount(u.Input+u.CacheRead+u.CacheWrite) + " in"
	if u.CacheRead > 0 {
		in += " (" + tokenCount(u.CacheRead) + " cached)"
	}
	return in + " / " + tokenCount(u.Output) + " out"
}

// shortNumber returns, for example, 999, 1.2K, 45K or 1.2M.
func shortNumber(n int64, units ...string) string {
	value := float64(n)
	digits := 0
	for len(units) > 1 && value >= 999.5 {
		value /= 1000
		units = units[1:]
		digits = 1
	}
	if value >= 9.95 {
		digits = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', digits, 64), ".0") + units[0]
}

func tokenCount(n int64) string { return shortNumber(n, "", "K", "M", "B") }

func byteCount(n int64) string { return shortNumber(n, " B", " kB", " MB", " GB", " TB") }
