package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

var phases = []phase{phaseAgent, phaseChecks, phaseProof, phaseWaiting, phaseOther}

func (p phase) String() string { return [...]string{"other", "agent", "checks", "proof", "waiting"}[p] }

type timeline struct {
	Strip  []bar // the whole run
	Legend []share
	Rows   []row
	Words  string // the strip in words
	Idle   string // how long no process ran
	Left   string
}

// bar is a part of a row, in thousandths of the width.
type bar struct {
	Phase string
	X, W  string
}

type share struct {
	Phase string
	Took  string
}

type row struct {
	Begun  bool // false: before any iteration
	Number int
	Story  string
	Href   string
	Bars   []bar
	Words  string // the bars in words
	Took   string
	Cost   string
	Mark   mark
}

const (
	maxRows  = 150
	minWidth = 0.4 // in thousandths: a smaller bar would be invisible
)

func (s Source) timelineOf(chapters []segment) timeline {
	var line timeline
	var whole, longest, idle time.Duration
	var sums [phaseIdle + 1]time.Duration
	for _, c := range chapters {
		whole, longest = whole+c.activeTime(), max(longest, c.activeTime())
		for p, took := range c.phaseTimes() {
			sums[p] += took
		}
	}
	idle = sums[phaseIdle]
	line.Legend, line.Words = shares(sums)
	line.Strip = strip(chapters, whole)
	if idle > 0 {
		line.Idle = policy.FormatDuration(idle)
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
	made := row{Begun: c.isIteration, Number: c.number, Href: c.href(), Story: oneLine(c.story, 80), Took: policy.FormatDuration(c.activeTime()), Mark: c.mark()}
	sums, at := c.phaseTimes(), 0.0
	for _, p := range phases {
		width := thousandthsOf(sums[p], longest)
		if width < minWidth {
			continue
		}
		made.Bars = append(made.Bars, bar{p.String(), formatWidth(at), formatWidth(width)})
		at += width
	}
	_, made.Words = shares(sums)
	made.Cost = strings.TrimPrefix(c.costText(), "cost ")
	return made
}

// shares are the times of the phases, as a list and in words.
func shares(sums [phaseIdle + 1]time.Duration) (all []share, words string) {
	var texts []string
	for _, p := range phases {
		if took := sums[p]; took > 0 {
			all = append(all, share{p.String(), policy.FormatDuration(took)})
			texts = append(texts, p.String()+" "+policy.FormatDuration(took))
		}
	}
	return all, strings.Join(texts, ", ")
}

// strip is the whole run as one row of bars; neighbours of one phase are one bar.
func strip(chapters []segment, whole time.Duration) []bar {
	var bars []bar
	at, from, now := 0.0, 0.0, phaseOther
	end := func() {
		if at-from >= minWidth {
			bars = append(bars, bar{now.String(), formatWidth(from), formatWidth(at - from)})
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

func thousandthsOf(of, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(of) / float64(whole) * 1000
}

func formatWidth(f float64) string { return fmt.Sprintf("%.1f", f) }
