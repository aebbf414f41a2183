package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
)

// segment is what happened from the beginning of an iteration to that of the
// next; the first one is what came before any.
type segment struct {
	isIteration bool // false of the first
	hasLink     bool // the page tells all of it, further down
	number      int
	story       string
	events      []timedEvent
}

// timedEvent is an event, and what it took to come about.
type timedEvent struct {
	event     journal.Event
	took      time.Duration
	phase     phase
	lines     []string // the log's words on it
	badLines  []string // of these, what people should look at first
	costUSD   float64  // dollars that it cost
	costKnown bool     // the agent, if it is the end of one, told what it cost
}

// phase is what a run does with its time.
type phase int

const (
	phaseOther phase = iota // prompts, commits, what lies between
	phaseAgent
	phaseChecks
	phaseProof
	phaseWaiting
	phaseIdle // no process was at work: it was stopped or killed
)

// segments are the run as told from its beginning to its end.
func (s Source) segments(entries []journal.Entry) ([]segment, journal.Run) {
	all := []segment{{}}
	var run journal.Run
	var before journal.Event
	for _, entry := range entries {
		at, paid := run.Now, run.CostUSD
		if run.Seq == 0 {
			at = entry.At
		}
		run = journal.Fold(run, entry)
		if began, is := entry.Event.(journal.IterationBegan); is && all[len(all)-1].startsNew(began) {
			all = append(all, segment{isIteration: true, number: began.Number, story: began.Story})
		}
		last := &all[len(all)-1]
		m := timedEvent{
			event: entry.Event, took: max(entry.At.Sub(at), 0), phase: phaseOf(before, entry.Event),
			lines: trimmedLines(view.Line(run, entry.Event)), costUSD: run.CostUSD - paid, costKnown: isCostKnown(entry.Event),
		}
		if isBad(run, entry.Event) {
			m.badLines = trimmedLines(view.Line(run, badPart(entry.Event)))
		}
		last.events = append(last.events, m)
		before = entry.Event
	}
	return all, run
}

// startsNew tells whether an iteration is none that goes on with the chapter.
func (c segment) startsNew(began journal.IterationBegan) bool {
	return !c.isIteration || began.Number != c.number
}

// href is where the page tells all of a chapter; empty where it does not.
func (c segment) href() string {
	if !c.hasLink {
		return ""
	}
	return "#" + anchor(c.number)
}

// isCostKnown is false of the end of an agent that did not tell what it cost.
func isCostKnown(event journal.Event) bool {
	switch e := event.(type) { //nolint:gochecksumtype // the others do not tell
	case journal.AgentEnded:
		return e.Cost.Known
	case journal.PlanDrafted:
		return e.Cost.Known
	case journal.StoryReviewed:
		return e.Cost.Known
	case journal.SCMEnded:
		return !e.Unpriced
	}
	return true
}

// trimmedLines are the lines of the log without how far in they stand there.
func trimmedLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, oneLine(line, maxLine))
		}
	}
	return all
}

const maxLine = 600

// phaseOf is what a run did between two events.
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

// isBad tells whether an event is one that people should look at first.
func isBad(run journal.Run, event journal.Event) bool {
	switch e := event.(type) { //nolint:gochecksumtype // the others are no bad news
	case journal.CheckEnded:
		return (e.Where == journal.AtWork || e.Where == journal.AtProof) && (verdict.BlocksStory(run, e) || e.Flaky)
	case journal.SetupEnded:
		return !e.Passed
	case journal.AgentEnded:
		return e.Failed
	case journal.PlanDrafted:
		return e.Why != ""
	case journal.PlanRead:
		return len(e.Undone) > 0 || e.Cut
	case journal.CommitsTaken:
		return len(e.Dropped)+len(e.Refused)+len(e.Huge) > 0
	case journal.SCMEnded:
		return e.Failed
	case journal.Joined:
		return len(e.Conflicts) > 0
	case journal.PublishFailed, journal.EgressRefused, journal.Branched:
		return true
	}
	return isBadVerdict(run, event)
}

// isBadVerdict tells of a verdict that is not what was hoped for.
func isBadVerdict(run journal.Run, event journal.Event) bool {
	switch e := event.(type) { //nolint:gochecksumtype // the others are no verdicts
	case journal.BaselineEnded:
		return !e.Usable
	case journal.ProofEnded:
		return !e.Passed || e.Empty
	case journal.ChangeInspected:
		return e.Why != "" || len(e.Found) > 0
	case journal.StoryReviewed:
		return e.Why != "" || len(e.Missed) > 0
	case journal.StoryGraded:
		story, found := run.Plan.Find(e.Story)
		return !found || !verdict.IsGradeSufficient(run, story, e.Grade)
	case journal.IterationEnded:
		return len(e.Rejected) > 0
	}
	return false // how it stopped is the headline
}

// badPart is the part of an event that is bad news.
func badPart(event journal.Event) journal.Event {
	switch e := event.(type) { //nolint:gochecksumtype // the others are all good or all bad
	case journal.PlanRead:
		return journal.PlanRead{Undone: e.Undone, Cut: e.Cut}
	case journal.CommitsTaken:
		return journal.CommitsTaken{Dropped: e.Dropped, Refused: e.Refused, Huge: e.Huge}
	case journal.IterationEnded:
		return journal.IterationEnded{Story: e.Story, Rejected: e.Rejected}
	}
	return event
}

// phaseTimes is how long a chapter spent with each phase.
func (c segment) phaseTimes() [phaseIdle + 1]time.Duration {
	var sums [phaseIdle + 1]time.Duration
	for _, m := range c.events {
		sums[m.phase] += m.took
	}
	return sums
}

// activeTime is the time of a chapter in which somebody was at work, or waited.
func (c segment) activeTime() time.Duration {
	var sum time.Duration
	for _, m := range c.events {
		if m.phase != phaseIdle {
			sum += m.took
		}
	}
	return sum
}

// badLines are the lines on what is bad in a chapter.
func (c segment) badLines() []string {
	var all []string
	for _, m := range c.events {
		all = append(all, m.badLines...)
	}
	return all
}

// iterationEnded is the verdict on an iteration; nil while there is none.
func (c segment) iterationEnded() *journal.IterationEnded {
	for _, m := range c.events {
		if e, is := m.event.(journal.IterationEnded); is {
			return &e
		}
	}
	return nil
}

// costText is what a chapter cost, as far as agents told.
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
