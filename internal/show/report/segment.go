package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// segment is a part of a run: an iteration, or all before the first.
type segment struct {
	isIteration bool // false for the first segment
	number      int
	story       string
	times       phaseTimes
	costUSD     float64
	costKnown   bool // false if an agent ended that did not report its cost
	events      []loggedEvent
}

type loggedEvent struct {
	event    journal.Event
	lines    []string // its lines in the log
	badLines []string // the lines about something that went wrong
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

type phaseTimes [phaseIdle + 1]time.Duration

// String returns the phases that took time, without the idle one.
func (t phaseTimes) String() string {
	var texts []string
	for p, name := range [...]string{"agent", "checks", "proof", "waiting", "other"} {
		if t[p] > 0 {
			texts = append(texts, name+" "+policy.FormatDuration(t[p]))
		}
	}
	return strings.Join(texts, ", ")
}

// active returns the time in which the run worked or waited.
func (t phaseTimes) active() time.Duration {
	sum := time.Duration(0)
	for _, took := range t[:phaseIdle] {
		sum += took
	}
	return sum
}

func (s Source) segments(entries []journal.Entry) ([]segment, journal.Run) {
	all := []segment{{costKnown: true}}
	var run journal.Run
	var before journal.Event
	for _, entry := range entries {
		costBefore := run.Spent.CostUSD
		at := run.Clock.Now
		if run.Seq == 0 {
			at = entry.At
		}
		known := run.Spent.CostKnown || run.Seq == 0
		run.Spent.CostKnown = true // Add clears it if this event has an unknown cost
		run.Add(entry)
		if began, ok := entry.Event.(journal.IterationBegan); ok && !all[len(all)-1].isOf(began) {
			all = append(all, segment{isIteration: true, number: began.Number, story: began.Story, costKnown: true})
		}
		last := &all[len(all)-1]
		last.times[phaseOf(before, entry.Event)] += max(entry.At.Sub(at), 0)
		last.costUSD = last.costUSD + run.Spent.CostUSD - costBefore
		last.costKnown = last.costKnown && run.Spent.CostKnown
		last.events = append(last.events, loggedEvent{
			event:    entry.Event,
			lines:    linesOf(view.Line(run, entry.Event)),
			badLines: linesOf(strings.Join(view.BadLines(run, entry.Event), "\n")),
		})
		run.Spent.CostKnown = run.Spent.CostKnown && known
		before = entry.Event
	}
	return all, run
}

// isOf reports whether the segment has that iteration, which can begin again.
func (c segment) isOf(began journal.IterationBegan) bool {
	return c.isIteration && c.number == began.Number
}

// linesOf returns the lines that are not empty.
func linesOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// phaseOf returns what a run did between two events.
func phaseOf(before, event journal.Event) phase {
	if _, ok := event.(journal.Resumed); ok {
		return phaseIdle
	}
	if _, ok := before.(journal.Paused); ok {
		return phaseWaiting
	}
	switch e := event.(type) { //nolint:gochecksumtype // the time of the others is not shown
	case journal.AgentEnded, journal.PlanDrafted:
		return phaseAgent
	case journal.CheckEnded:
		return phaseAt(e.Where)
	case journal.SetupEnded:
		return phaseAt(e.Where)
	case journal.ProofEnded, journal.StoryReviewed:
		return phaseProof
	}
	return phaseOther
}

func phaseAt(where journal.Where) phase {
	if where == journal.AtHead || where == journal.AtOldTests || where == journal.AtNewTests {
		return phaseProof
	}
	return phaseChecks
}

func (c segment) badLines() []string {
	var all []string
	for _, e := range c.events {
		all = append(all, e.badLines...)
	}
	return all
}

func (c segment) mark() mark {
	switch {
	case len(c.badLines()) > 0:
		return poor
	case !c.isIteration:
		return good
	}
	for _, logged := range c.events {
		e, ok := logged.event.(journal.IterationEnded)
		if ok && (e.Done || len(e.Passed) > 0) {
			return good
		}
	}
	return open
}
