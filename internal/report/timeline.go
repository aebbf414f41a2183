package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// phases are the ones that are drawn, in the order in which they are told, each
// with its name on the page.
var phases = []struct {
	phase phase
	name  string
}{{phaseAgent, "agent"}, {phaseChecks, "checks"}, {phaseProof, "proof"}, {phaseWaiting, "waiting"}, {phaseOther, "other"}}

// timeline is where the time went.
type timeline struct {
	Strip  []bar // the whole run
	Legend []share
	Rows   []row
	Words  string // the strip, for those who do not see it
	Idle   string // how long no process was at work
	Left   string
}

// bar is a stretch of time, in thousandths of what is drawn.
type bar struct {
	Phase string
	X, W  string
}

// share is what a phase took of a whole.
type share struct {
	Phase string
	Took  string
}

// row is an iteration.
type row struct {
	Begun  bool // else it was before any
	Number int
	Story  string
	Href   string
	Bars   []bar
	Words  string // the bars, for those who do not see them
	Took   string
	Cost   string
	Mark   mark
}

// Of rows, and of stretches in the strip, there are no more than these.
const (
	maxRows  = 150
	minWidth = 0.4 // thousandths: what is drawn smaller is not seen
)

func (s Source) timelineOf(chapters []segment) timeline {
	var line timeline
	var whole, longest, gone time.Duration
	var sums [phaseIdle + 1]time.Duration
	for _, c := range chapters {
		whole, longest = whole+c.activeTime(), max(longest, c.activeTime())
		for p, took := range c.phaseTimes() {
			sums[p] += took
		}
	}
	gone = sums[phaseIdle]
	line.Legend, line.Words = shares(sums)
	line.Strip = strip(chapters, whole)
	if gone > 0 {
		line.Idle = policy.Short(gone)
	}
	shown := chapters[max(len(chapters)-maxRows, 0):]
	if older := len(chapters) - len(shown); older > 0 {
		line.Left = plural(older, "earlier row") + " left out"
	}
	for _, c := range shown {
		if c.isIteration || c.activeTime() > 0 {
			line.Rows = append(line.Rows, s.row(c, longest))
		}
	}
	return line
}

func (s Source) row(c segment, longest time.Duration) row {
	made := row{Begun: c.isIteration, Number: c.number, Href: c.href(), Story: oneLine(c.story, 80), Took: policy.Short(c.activeTime()), Mark: c.mark()}
	sums, at := c.phaseTimes(), 0.0
	for _, p := range phases {
		width := thousandthsOf(sums[p.phase], longest)
		if width < minWidth {
			continue
		}
		made.Bars = append(made.Bars, bar{p.name, formatWidth(at), formatWidth(width)})
		at += width
	}
	_, made.Words = shares(sums)
	made.Cost = c.costText()
	return made
}

// shares are what each phase took, as a list and in a sentence.
func shares(sums [phaseIdle + 1]time.Duration) (all []share, words string) {
	var told []string
	for _, p := range phases {
		if took := sums[p.phase]; took > 0 {
			all = append(all, share{p.name, policy.Short(took)})
			told = append(told, p.name+" "+policy.Short(took))
		}
	}
	return all, strings.Join(told, ", ")
}

// strip is the whole run as one bar; neighbours of one phase are one stretch.
func strip(chapters []segment, whole time.Duration) []bar {
	var bars []bar
	at, from, now := 0.0, 0.0, phaseOther
	end := func() {
		if at-from >= minWidth {
			bars = append(bars, bar{phaseName(now), formatWidth(from), formatWidth(at - from)})
		}
	}
	for _, c := range chapters {
		for _, m := range c.events {
			if m.phase == phaseIdle || m.took == 0 {
				continue
			}
			if m.phase != now && m.took > whole/2000 {
				end()
				from, now = at, m.phase
			}
			at += thousandthsOf(m.took, whole)
		}
	}
	end()
	return bars
}

func phaseName(wanted phase) string {
	for _, p := range phases {
		if p.phase == wanted {
			return p.name
		}
	}
	return ""
}

func thousandthsOf(of, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(of) / float64(whole) * 1000
}

func formatWidth(f float64) string { return fmt.Sprintf("%.1f", f) }
