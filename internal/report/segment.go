package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// segment is a part of a run: an iteration, or all before the first.
type segment struct {
	isIteration bool // false for the first segment
	hasLink     bool // the page has a section about it
	number      int
	story       string
	events      []timedEvent
}

// timedEvent is an event with the time and cost since the event before it.
type timedEvent struct {
	event     journal.Event
	took      time.Duration
	phase     phase
	lines     []string // its lines in the log
	badLines  []string // the lines about something that went wrong
	costUSD   float64  // cost since the event before it
	costKnown bool     // false if an agent ended that did not report its cost
}

type phase int

const (
	phaseAgent phase = iota
	phaseChecks
	phaseProof
	phaseWaiting
	phaseOther // prompts, commits and the rest
	phaseIdle  // no process ran: the run was stopped or killed
)

func (s Source) segments(entries []journal.Entry) ([]segment, journal.Run) {
	all := []segment{{}}
	var run journal.Run
	var before journal.Event
	for _, entry := range entries {
		at, paid := run.Now, run.CostUSD
		if run.Seq == 0 {
			at = entry.At
		}
		known := run.CostKnown || run.Seq == 0
		run.CostKnown = true // Add clears it if this event has an unknown cost
		run.Add(entry)
		if began, is := entry.Event.(journal.IterationBegan); is && (len(all) == 1 || began.Number != all[len(all)-1].number) {
			all = append(all, segment{isIteration: true, number: began.Number, story: began.Story})
		}
		last := &all[len(all)-1]
		m := timedEvent{
			event: entry.Event, took: max(entry.At.Sub(at), 0), phase: phaseOf(before, entry.Event),
			lines: trimmedLines(view.Line(run, entry.Event)), badLines: trimmedLines(strings.Join(view.BadLines(run, entry.Event), "\n")),
			costUSD: run.CostUSD - paid, costKnown: run.CostKnown,
		}
		run.CostKnown = run.CostKnown && known
		last.events = append(last.events, m)
		before = entry.Event
	}
	return all, run
}

// href returns a link to the page's section about a segment. It is empty if there is none.
func (c segment) href() string {
	if !c.hasLink {
		return ""
	}
	return "#" + anchor(c.number)
}

func trimmedLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// phaseOf returns what a run did between two events.
func phaseOf(before, event journal.Event) phase {
	if _, is := event.(journal.Resumed); is {
		return phaseIdle
	}
	if _, paused := before.(journal.Paused); paused {
		return phaseWaiting
	}
	switch e := event.(type) { //nolint:gochecksumtype // the time of the others is not shown
	case journal.AgentEnded, journal.PlanDrafted:
		return phaseAgent
	case journal.CheckEnded:
		return phaseAt(e.Where)
	case journal.SetupEnded:
		return phaseAt(e.Where)
	case journal.ProofEnded, journal.ChangeInspected, journal.StoryReviewed, journal.StoryGraded:
		return phaseProof
	}
	return phaseOther
}

func phaseAt(where journal.Where) phase {
	if where == journal.AtProof || where == journal.AtTests {
		return phaseProof
	}
	return phaseChecks
}

func (c segment) phaseTimes() phaseTimes {
	var sums phaseTimes
	for _, m := range c.events {
		sums[m.phase] += m.took
	}
	return sums
}

// activeTime returns the time of a segment in which the run worked or waited.
func (c segment) activeTime() time.Duration {
	var sum time.Duration
	sums := c.phaseTimes()
	for _, took := range sums[:phaseIdle] {
		sum += took
	}
	return sum
}

func (c segment) badLines() []string {
	var all []string
	for _, m := range c.events {
		all = append(all, m.badLines...)
	}
	return all
}

// costText returns the cost of a segment, as far as agents reported it.
func (c segment) costText() string {
	if !c.isIteration {
		return ""
	}
	usd, known := 0.0, true
	for _, m := range c.events {
		usd, known = usd+m.costUSD, known && m.costKnown
	}
	return view.CostText(usd, known)
}
