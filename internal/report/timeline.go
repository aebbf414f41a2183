package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
)

var phaseNames = [...]string{"agent", "checks", "proof", "waiting", "other"}

type timeline struct {
	Words string // the time of each phase of the run
	Rows  []row
	Idle  string // time without a process
	Left  string
}

type row struct {
	place
	Words string // the time of each phase
	Took  string
	Cost  string
	Mark  mark
}

const maxRows = 150

func (s Source) timeline(segments []segment) timeline {
	var line timeline
	var sums phaseTimes
	for _, c := range segments {
		for p, took := range c.phaseTimes() {
			sums[p] += took
		}
	}
	line.Words = sums.String()
	if idle := sums[phaseIdle]; idle > 0 {
		line.Idle = policy.FormatDuration(idle)
	}
	shown := segments[max(len(segments)-maxRows, 0):]
	if older := len(segments) - len(shown); older > 0 {
		line.Left = view.Plural(older, "earlier row") + " left out"
	}
	for _, c := range shown {
		if c.isIteration || c.activeTime() > 0 {
			line.Rows = append(line.Rows, row{
				place: place{c.isIteration, c.number, c.href(), s.line(c.story, 80)}, Words: c.phaseTimes().String(),
				Took: policy.FormatDuration(c.activeTime()), Cost: strings.TrimPrefix(c.costText(), "cost "), Mark: c.mark(),
			})
		}
	}
	return line
}

type phaseTimes [phaseIdle + 1]time.Duration

// String returns the phases that took time.
func (t phaseTimes) String() string {
	var texts []string
	for p, name := range phaseNames {
		if t[p] > 0 {
			texts = append(texts, name+" "+policy.FormatDuration(t[p]))
		}
	}
	return strings.Join(texts, ", ")
}
