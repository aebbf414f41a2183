package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// cost is what a run spent over time. It is drawn from points in a thousand by
// a thousand.
type cost struct {
	Total string
	Line  string // points of the steps
	Area  string // the same, closed below
	Limit string // height of the limit; empty where there is none, or far above
	Most  string // what the height stands for
	Whole string // what the width stands for
	Words string
	Rows  []spending
}

// spending is what an iteration cost.
type spending struct {
	Number int
	Cost   string
	SoFar  string
}

// costOf draws what was spent against the time in which somebody was at work.
func (s Source) costOf(chapters []chapter, run journal.Run) cost {
	drawn := cost{Total: s.Words.Spent(run.CostUSD, run.CostKnown)}
	if run.CostUSD <= 0 {
		return drawn
	}
	var whole time.Duration
	for _, c := range chapters {
		whole += c.worked()
	}
	most := run.CostUSD
	limit := run.Policy.Limits.CostUSD
	if limit > 0 && limit < 3*most {
		most = max(most, limit)
		drawn.Limit = height(limit, most)
	}
	drawn.Most, drawn.Whole = s.Words.Spent(most, true), policy.Short(whole)
	drawn.Line = steps(chapters, whole, most)
	drawn.Area = drawn.Line + " 1000.0,1000.0 0.0,1000.0"
	drawn.Words = fmt.Sprintf("Cost over time: %s in %s of work", drawn.Total, drawn.Whole)
	if limit > 0 {
		drawn.Words += ", of " + s.Words.Spent(limit, true) + " allowed"
	}
	drawn.Rows = s.spendings(chapters)
	return drawn
}

// steps are the points of what was spent: money goes when an agent tells.
func steps(chapters []chapter, whole time.Duration, most float64) string {
	points := []string{"0.0," + height(0, most)}
	at, paid := time.Duration(0), 0.0
	add := func() {
		points = append(points, thousandths(part(at, whole))+","+height(paid, most))
	}
	for _, c := range chapters {
		for _, m := range c.moments {
			if m.phase != away {
				at += m.took
			}
			if m.cost != paid {
				add()
				paid = m.cost
				add()
			}
		}
	}
	add()
	return strings.Join(points, " ")
}

// height is an amount, from above.
func height(usd, most float64) string { return thousandths(1000 - usd/most*1000) }

func (s Source) spendings(chapters []chapter) []spending {
	var rows []spending
	for _, c := range chapters[max(len(chapters)-mostRows, 0):] {
		if !c.begun || len(c.moments) == 0 {
			continue
		}
		last := c.moments[len(c.moments)-1]
		rows = append(rows, spending{c.number, c.price(s.Words), s.Words.Spent(last.cost, last.sure)})
	}
	return rows
}

// price is what a chapter cost, as far as agents told.
func (c chapter) price(words Words) string {
	if !c.begun {
		return ""
	}
	usd, known := 0.0, true
	for _, m := range c.moments {
		usd, known = usd+m.paid, known && m.known
	}
	return words.Spent(usd, known)
}
