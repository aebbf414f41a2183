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
}{{agents, "agent"}, {checks, "checks"}, {proofs, "proof"}, {waits, "waiting"}, {others, "other"}}

// timeline is where the time went.
type timeline struct {
	Strip  []bar // the whole run
	Legend []share
	Rows   []row
	Words  string // the strip, for those who do not see it
	Away   string // how long no process was at work
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
	mostRows = 150
	narrow   = 0.4 // thousandths: what is drawn smaller is not seen
)

func (s Source) timelineOf(chapters []chapter) timeline {
	var line timeline
	var whole, longest, gone time.Duration
	var sums [away + 1]time.Duration
	for _, c := range chapters {
		whole, longest = whole+c.worked(), max(longest, c.worked())
		for p, took := range c.spent() {
			sums[p] += took
		}
	}
	gone = sums[away]
	line.Legend, line.Words = shares(sums)
	line.Strip = strip(chapters, whole)
	if gone > 0 {
		line.Away = policy.Short(gone)
	}
	shown := chapters[max(len(chapters)-mostRows, 0):]
	if older := len(chapters) - len(shown); older > 0 {
		line.Left = count(older, "earlier row") + " left out"
	}
	for _, c := range shown {
		if c.begun || c.worked() > 0 {
			line.Rows = append(line.Rows, s.row(c, longest))
		}
	}
	return line
}

func (s Source) row(c chapter, longest time.Duration) row {
	made := row{Begun: c.begun, Number: c.number, Href: c.href(), Story: oneLine(c.story, 80), Took: policy.Short(c.worked()), Mark: c.mark()}
	sums, at := c.spent(), 0.0
	for _, p := range phases {
		width := part(sums[p.phase], longest)
		if width < narrow {
			continue
		}
		made.Bars = append(made.Bars, bar{p.name, thousandths(at), thousandths(width)})
		at += width
	}
	_, made.Words = shares(sums)
	made.Cost = c.price()
	return made
}

// shares are what each phase took, as a list and in a sentence.
func shares(sums [away + 1]time.Duration) (all []share, words string) {
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
func strip(chapters []chapter, whole time.Duration) []bar {
	var bars []bar
	at, from, now := 0.0, 0.0, others
	end := func() {
		if at-from >= narrow {
			bars = append(bars, bar{nameOf(now), thousandths(from), thousandths(at - from)})
		}
	}
	for _, c := range chapters {
		for _, m := range c.moments {
			if m.phase == away || m.took == 0 {
				continue
			}
			if m.phase != now && m.took > whole/2000 {
				end()
				from, now = at, m.phase
			}
			at += part(m.took, whole)
		}
	}
	end()
	return bars
}

func nameOf(wanted phase) string {
	for _, p := range phases {
		if p.phase == wanted {
			return p.name
		}
	}
	return ""
}

func part(of, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(of) / float64(whole) * 1000
}

func thousandths(f float64) string { return fmt.Sprintf("%.1f", f) }
