package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// Event returns the text for an event that run includes, without a newline at its end. It can be empty.
func (c *Console) Event(run journal.Run, event journal.Event) string {
	return c.format(c.eventRows(run, event))
}

func (c *Console) eventRows(run journal.Run, event journal.Event) []row {
	var rows []row
	if passed, ok := event.(journal.EgressPassed); ok { // the report has the hosts
		passed.Hosts = nil
		passed.Rest = nil
		event = passed
	}
	for _, line := range eventLines(run, event) {
		rows = append(rows, textRow(line.indent+line.sign+" ", line.text, plain)...)
	}
	for _, quoted := range c.Look.outputRows(strings.Join(failedOutput(event), "\n"), faint) {
		quoted.lead = "   " + quoted.lead
		rows = append(rows, quoted)
	}
	switch e := event.(type) { //nolint:gochecksumtype // the lines are enough for the others
	case journal.RunBegan, journal.Resumed:
		return runStartRows(run, rows)
	case journal.IterationBegan:
		return c.iterationRows(run, e)
	case journal.AgentEnded:
		if c.agentEnded && !e.Failed { // its result was shown
			return nil
		}
	case journal.IterationEnded:
		return append(rows, row{lead: "  💰 ", text: usedText(run), tone: faint})
	case journal.RunStopped:
		return stopRows(run)
	case journal.TaskSettled: // a supervised command has the terminal to itself
		return nil
	}
	return rows
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func runStartRows(run journal.Run, rows []row) []row {
	for i := range rows {
		rows[i].gapBefore = true
	}
	stories := run.Plan.UserStories
	for _, story := range stories[:min(len(stories), maxListed)] {
		lead := "  " + pick(story.Passes, goodSign, openSign) + " "
		rows = append(rows, row{lead: lead, text: terminalLine(story.ID + " " + story.Title)})
	}
	if left := len(stories) - maxListed; left > 0 {
		rows = append(rows, row{lead: "  ", text: fmt.Sprintf("… and %d more", left), tone: faint})
	}
	return rows
}

// Checking returns a line for a check, or a command of setup, that starts now.
func (c *Console) Checking(kind string, check policy.Check) string {
	return c.format(textRow("  "+waitSign+" ", kind+" "+check.Name+" …", plain))
}

// Tail returns the last three essential lines of a command's output, or five around the first that states a failure.
func Tail(excerpt string) []string {
	lines := results.Essential(strings.Trim(scrub(excerpt), " \n"))
	at := slices.IndexFunc(lines, results.StatesFailure)
	if at < 0 {
		at = len(lines) - 1
	}
	return lines[max(at-2, 0):min(at+3, len(lines))]
}

func (c *Console) iterationRows(run journal.Run, e journal.IterationBegan) []row {
	c.resetAgent()
	c.agentBegan = c.Now()
	title := fmt.Sprintf("Iteration %d", e.Number)
	if limit := run.Policy.Limits.Iterations; limit > 0 {
		title += fmt.Sprintf(" of %d", run.Clock.Granted.Iterations+limit)
	}
	story, _ := run.Plan.Find(e.Story)
	if about := terminalLine(e.Story + " " + story.Title); about != "" {
		title += " · " + about
	}
	return []row{{gapBefore: true, text: c.Look.headerLine(title), tone: bold, clip: true}}
}

func (l Look) headerLine(title string) string {
	const widest = 80
	room := l.roomFor("")
	if room == 0 || room > widest {
		room = widest
	}
	text := "── " + clip(title, room-5) + " "
	return text + strings.Repeat("─", max(room-uniseg.StringWidth(text), 1))
}

// stopRows says once how the run ended, then its sums and what to do next.
func stopRows(run journal.Run) []row {
	sign := stopSign(*run.Stop)
	cause := ending.Of(run).Cause
	if sign == goodSign && cause != nil && cause != ending.NothingToDo {
		sign = warnSign
	}
	rows := textRow(sign+" ", WithoutMarkup(Headline(run)), bold)
	rows[0].gapBefore = true
	for _, text := range stopTexts(run) {
		rows = append(rows, textRow("   ", text, plain)...)
	}
	return rows
}

func stopTexts(run journal.Run) []string {
	texts := []string{Sum(run)}
	if run.Published.Pull != nil {
		texts = append(texts, fmt.Sprintf("pull request #%d: %s", run.Published.Pull.Number, run.Published.Pull.URL))
	}
	if next := Next(run); next != "" {
		if inspect(run) == next {
			next += "; `ralph report` shows each step"
		}
		texts = append(texts, "next: "+next)
	}
	if run.Stop.Reason == policy.ResponseMatched && len(run.Policy.Checks) == 0 {
		texts = append(texts, "nothing was checked")
	}
	return texts
}

func usedText(run journal.Run) string {
	limits := run.Policy.Limits
	cost := namedCost(run.Spent.CostUSD, run.Spent.CostKnown)
	if limits.CostUSD > 0 && (run.Spent.CostKnown || run.Spent.CostUSD > 0) {
		cost += " of " + CostText(run.Clock.Granted.CostUSD+limits.CostUSD, true)
	}
	took := policy.FormatDuration(run.Elapsed())
	if limits.Run > 0 {
		took += " of " + limits.Run.String()
	}
	return strings.TrimSuffix("so far: "+cost+", "+took+", "+passedText(run), ", ")
}

// Sum returns the iterations, cost and time of the whole run.
func Sum(run journal.Run) string {
	iterations := Plural(len(run.Iterations), "iteration")
	cost := namedCost(run.Spent.CostUSD, run.Spent.CostKnown)
	took := policy.FormatDuration(run.Clock.Now.Sub(run.Clock.Began))
	return strings.TrimPrefix(passedText(run)+", "+iterations+", "+cost+", "+took, ", ")
}

// passedText returns how many stories passed. It is empty without stories.
func passedText(run journal.Run) string {
	if len(run.Plan.UserStories) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s passed", run.PassedStories(), Plural(len(run.Plan.UserStories), "story"))
}
