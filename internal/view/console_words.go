package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
)

// waiting is a pause that the agent's program takes, and why.
func waiting(r stream.Retry) string {
	reason := lineOf(r.Reason)
	if reason == "" {
		reason = "the model did not answer"
	}
	var more []string
	if r.Status != 0 {
		more = append(more, fmt.Sprintf("status %d", r.Status))
	}
	if r.Attempt > 0 {
		more = append(more, fmt.Sprintf("attempt %d", r.Attempt))
	}
	text := "waiting " + policy.Short(r.Delay) + ": " + reason
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// task is a line of the agent's list.
func (l Look) task(task stream.Task) row {
	sign, note, t := "⏸️", "", plain
	switch task.State {
	case stream.TaskDone:
		sign, t = goodSign, faint
	case stream.TaskActive:
		sign, note, t = "🔄", l.ours(" ← ACTIVE"), bold
	case stream.TaskPending:
	}
	return row{lead: "  " + sign + " ", text: lineOf(task.Text) + note, tone: t}
}

// done is how far a list is: "Progress: 1/3 (33%)".
func done(tasks []stream.Task) string {
	n := 0
	for _, task := range tasks {
		if task.State == stream.TaskDone {
			n++
		}
	}
	return fmt.Sprintf("Progress: %d/%d (%d%%)", n, len(tasks), 100*n/len(tasks))
}

// result closes an agent's run, and with it all that was counted for it.
func (c *Console) result(r stream.Result, at time.Time) []row {
	var rows []row
	text := strings.Trim(scrub(r.Text), " \n")
	if !r.Failed && text != c.said {
		rows = c.text(text) // some agents say their last words only here
	}
	sign, how := goodSign, "Complete"
	if r.Failed {
		sign, how = badSign, failed(r)
	}
	rows = append(rows, row{gap: true, lead: sign + " ", text: how + " (" + c.bill(r, at) + ")", tone: bold})
	if r.Failed && text != "" {
		rows = append(rows, c.Look.quote(text, plain)...)
	}
	c.rest()
	c.ended = true
	return rows
}

func failed(r stream.Result) string {
	text := "Failed"
	if reason := lineOf(r.Reason); reason != "" {
		text += ": " + reason
	}
	if r.Status != 0 {
		text += fmt.Sprintf(", status %d", r.Status)
	}
	return text
}

// rest forgets the agent that ended.
func (c *Console) rest() {
	c.calls, c.tasks, c.said, c.began, c.ended = calls{}, nil, "", time.Time{}, false
}

// bill is what the agent took.
func (c *Console) bill(r stream.Result, at time.Time) string {
	parts := []string{
		"cost: " + money(r.Cost.USD, r.Cost.Known),
		"tokens: " + tokens(r.Usage),
		fmt.Sprintf("tools: %d", c.calls.begun),
		fmt.Sprintf("errors: %d", c.calls.failed),
	}
	if !at.IsZero() {
		parts = append(parts, "time: "+policy.Short(at.Sub(c.began)))
	}
	return strings.Join(parts, ", ")
}

// tokens is what went in, from a cache or not, and what came out.
func tokens(u stream.Usage) string {
	if u == (stream.Usage{}) {
		return "unknown"
	}
	in := count(u.Input+u.CacheRead+u.CacheWrite) + " in"
	if u.CacheRead > 0 {
		in += " (" + count(u.CacheRead) + " cached)"
	}
	return in + " / " + count(u.Output) + " out"
}

// count is n as people say it: 999, 1.2K, 45K, 1.2M. It rounds before it picks
// the unit, so that there is no 1000K.
func count(n int64) string {
	value, units := float64(n), []string{"", "K", "M", "B"}
	for len(units) > 1 && value >= 999.5 {
		value, units = value/1000, units[1:]
	}
	digits := 0
	if units[0] != "" && value < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', digits, 64), ".0") + units[0]
}
