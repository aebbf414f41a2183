package quota

import (
	"cmp"
	"slices"
	"time"
)

// Pull is a pull request of ralph, with its cost and end.
type Pull struct {
	Number int       `json:"number"`
	Branch string    `json:"branch"`
	Opened time.Time `json:"opened"`
	Runs   []PullRun `json:"runs,omitempty"`
	End    End       `json:"end,omitempty"` // empty: it is open
	Ended  time.Time `json:"ended,omitzero"`
}

// PullRun is one run that worked on a pull request.
type PullRun struct {
	ID      string   `json:"id"`
	Agent   string   `json:"agent"`
	USD     *float64 `json:"usd"`     // null: unknown
	Minutes float64  `json:"minutes"` // in iterations
}

// End is how a pull request ended.
type End string

// The ends.
const (
	Merged End = "merged"
	Closed End = "closed"
)

const mostPulls = 5000 // limits the ledger: the oldest pull requests are removed

// Worked enters a run on a pull request. If the job began after its end, it was reopened.
func (b Book) Worked(p Pull, run PullRun, began time.Time) Book {
	if old, ok := b.pull(p.Number); ok {
		p.Runs = slices.DeleteFunc(slices.Clone(old.Runs), func(old PullRun) bool { return old.ID == run.ID })
		p.Opened = old.Opened
		if old.End != "" && !began.After(old.Ended) {
			p.End = old.End
			p.Ended = old.Ended
		}
	}
	p.Runs = append(p.Runs, run)
	return b.put(p)
}

func (b Book) pull(number int) (Pull, bool) {
	at := slices.IndexFunc(b.Pulls, func(p Pull) bool { return p.Number == number })
	if at < 0 {
		return Pull{}, false
	}
	return b.Pulls[at], true
}

// Over enters the end of a pull request with a known run.
func (b Book) Over(p Pull) Book {
	old, _ := b.pull(p.Number)
	p.Runs = old.Runs
	return b.put(p)
}

func (b Book) put(p Pull) Book {
	rows := slices.DeleteFunc(slices.Clone(b.Pulls), func(old Pull) bool { return old.Number == p.Number })
	rows = append(rows, p)
	slices.SortFunc(rows, func(a, b Pull) int { return cmp.Compare(a.Number, b.Number) })
	b.Pulls = rows[max(0, len(rows)-mostPulls):]
	return b
}
