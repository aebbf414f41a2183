package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
)

// chapter is what happened from the beginning of an iteration to that of the
// next; the first one is what came before any.
type chapter struct {
	begun   bool // false of the first
	linked  bool // the page tells all of it, further down
	number  int
	story   string
	moments []moment
}

// moment is an event, and what it took to come about.
type moment struct {
	event journal.Event
	took  time.Duration
	phase phase
	lines []string // the log's words on it
	bad   []string // of these, what people should look at first
	paid  float64  // dollars that it cost
	known bool     // the agent, if it is the end of one, told what it cost
}

// phase is what a run does with its time.
type phase int

const (
	others phase = iota // prompts, commits, what lies between
	agents
	checks
	proofs
	waits
	away // no process was at work: it was stopped or killed
)

// chapters are the run as told from its beginning to its end.
func (s Source) chapters(entries []journal.Entry) ([]chapter, journal.Run) {
	all := []chapter{{}}
	var run journal.Run
	var before journal.Event
	for _, entry := range entries {
		at, paid := run.Now, run.CostUSD
		if run.Seq == 0 {
			at = entry.At
		}
		run = journal.Fold(run, entry)
		if began, is := entry.Event.(journal.IterationBegan); is && all[len(all)-1].another(began) {
			all = append(all, chapter{begun: true, number: began.Number, story: began.Story})
		}
		last := &all[len(all)-1]
		m := moment{
			event: entry.Event, took: max(entry.At.Sub(at), 0), phase: phaseOf(before, entry.Event),
			lines: lines(view.Line(run, entry.Event)), paid: run.CostUSD - paid, known: priced(entry.Event),
		}
		if bad(run, entry.Event) {
			m.bad = lines(view.Line(run, worst(entry.Event)))
		}
		last.moments = append(last.moments, m)
		before = entry.Event
	}
	return all, run
}

// another tells whether an iteration is none that goes on with the chapter.
func (c chapter) another(began journal.IterationBegan) bool {
	return !c.begun || began.Number != c.number
}

// href is where the page tells all of a chapter; empty where it does not.
func (c chapter) href() string {
	if !c.linked {
		return ""
	}
	return "#" + anchor(c.number)
}

// priced is false of the end of an agent that did not tell what it cost.
func priced(event journal.Event) bool {
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

// lines are the lines of the log without how far in they stand there.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, oneLine(line, mostLine))
		}
	}
	return all
}

const mostLine = 600

// phaseOf is what a run did between two events.
func phaseOf(before, event journal.Event) phase {
	if _, is := event.(journal.Resumed); is {
		return away
	}
	if _, paused := before.(journal.Paused); paused {
		return waits
	}
	switch e := event.(type) { //nolint:gochecksumtype // the time of the others is not shown
	case journal.AgentEnded, journal.PlanDrafted:
		return agents
	case journal.CheckEnded:
		return phaseAt(e.Where)
	case journal.SetupEnded:
		return phaseAt(e.Where)
	case journal.ProofEnded, journal.ChangeInspected, journal.StoryReviewed, journal.StoryGraded:
		return proofs
	}
	return others
}

func phaseAt(where journal.Where) phase {
	if where == journal.AtProof || where == journal.AtTests {
		return proofs
	}
	return checks
}

// bad tells whether an event is one that people should look at first.
func bad(run journal.Run, event journal.Event) bool {
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
	return wanting(run, event)
}

// wanting tells of a verdict that is not what was hoped for.
func wanting(run journal.Run, event journal.Event) bool {
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

// worst is the part of an event that is bad news.
func worst(event journal.Event) journal.Event {
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

// spent is how long a chapter spent with each phase.
func (c chapter) spent() [away + 1]time.Duration {
	var sums [away + 1]time.Duration
	for _, m := range c.moments {
		sums[m.phase] += m.took
	}
	return sums
}

// worked is the time of a chapter in which somebody was at work, or waited.
func (c chapter) worked() time.Duration {
	var sum time.Duration
	for _, m := range c.moments {
		if m.phase != away {
			sum += m.took
		}
	}
	return sum
}

// faults are the lines on what is bad in a chapter.
func (c chapter) faults() []string {
	var all []string
	for _, m := range c.moments {
		all = append(all, m.bad...)
	}
	return all
}

// ended is the verdict on an iteration; nil while there is none.
func (c chapter) ended() *journal.IterationEnded {
	for _, m := range c.moments {
		if e, is := m.event.(journal.IterationEnded); is {
			return &e
		}
	}
	return nil
}

// price is what a chapter cost, as far as agents told.
func (c chapter) price() string {
	if !c.begun {
		return ""
	}
	usd, known := 0.0, true
	for _, m := range c.moments {
		usd, known = usd+m.paid, known && m.known
	}
	return view.CostText(usd, known)
}
