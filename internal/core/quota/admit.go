package quota

import (
	"fmt"
	"slices"
	"time"
)

// Candidate describes a job that wants to begin.
type Candidate struct {
	Entry  Entry
	Limits Limits
	Open   []string // branches of ralph with an open pull request
}

// Refusal says why a job may not begin, and what would allow it.
type Refusal struct {
	Why   string
	Limit string // the input or setting that allows more
	Full  bool   // of jobs: one of them may be over without having said so
}

// String returns the refusal for the person who asked.
func (r Refusal) String() string {
	return r.Why + ". The " + r.Limit + " allows more"
}

// Admit enters a job into the book if the limits allow it. A second try enters nothing, as an answer may be lost.
func (b Book) Admit(a Candidate, now time.Time) (Book, *Refusal) {
	b = b.sweep(now).endEarlier(a.Entry, now)
	b.Entries = slices.DeleteFunc(b.Entries, func(e Entry) bool { return e.isOpen(a.Entry.Job, a.Entry.Run) })
	for _, check := range []func(Candidate, time.Time) *Refusal{b.checkRuns, b.checkCost, b.checkPulls} {
		if refusal := check(a, now); refusal != nil {
			return b, refusal
		}
	}
	b.Entries = append(b.Entries, a.Entry)
	return b, nil
}

// checkRuns applies the limit of parallel runs.
func (b Book) checkRuns(a Candidate, now time.Time) *Refusal {
	busy := b.AtWork(now)
	if a.Limits.Runs == 0 || len(busy) < a.Limits.Runs {
		return nil
	}
	return &Refusal{
		Why: fmt.Sprintf("%s at work in this repository already, and no more may be: ask again when one is done",
			count(len(busy), "run is", "runs are")),
		Limit: "setting `github.maxRuns`",
		Full:  true,
	}
}

// checkCost applies the limit of a day's cost, including what active runs may still spend.
func (b Book) checkCost(a Candidate, now time.Time) *Refusal {
	if a.Limits.USD == 0 {
		return nil
	}
	if a.Entry.Held == 0 {
		return &Refusal{
			Why: "a run without a limit (`max-cost: 0`) may spend more than this repository may in a day: " +
				"set one, or `max-cost-per-day: 0`",
			Limit: "input `max-cost-per-day` of the workflow",
		}
	}
	total, held := 0.0, 0.0
	for _, e := range b.Entries {
		if e.counts(now) {
			total += e.cost()
		}
		if e.atWork(now) {
			held += e.cost()
		}
	}
	left := a.Limits.USD - total
	if a.Entry.Held <= left+1e-9 {
		return nil
	}
	why := fmt.Sprintf("%s of %s dollars a day are spent", usd(total-held), usd(a.Limits.USD))
	if held > 0 {
		why += fmt.Sprintf(", or may be by runs at work (%s)", usd(held))
	}
	why += fmt.Sprintf(", and this run may take %s", usd(a.Entry.Held))
	if left >= 0.01 {
		why += fmt.Sprintf(": `/ralph --max-cost %s` fits", usd(left))
	} else {
		why += ": ask again tomorrow"
	}
	return &Refusal{Why: why, Limit: "input `max-cost-per-day` of the workflow", Full: held > 0}
}

// checkPulls applies the limit of open pull requests, including those that active runs may open.
func (b Book) checkPulls(a Candidate, now time.Time) *Refusal {
	if a.Limits.Pulls == 0 {
		return nil
	}
	if a.Entry.Branch == "" || slices.Contains(a.Open, a.Entry.Branch) {
		return nil
	}
	branches := slices.Clone(a.Open)
	for _, e := range b.AtWork(now) {
		if e.Branch != "" {
			branches = append(branches, e.Branch)
		}
	}
	slices.Sort(branches)
	n := len(slices.Compact(branches))
	if n < a.Limits.Pulls {
		return nil
	}
	return &Refusal{
		Why: fmt.Sprintf("%s open already, or about to be: merge or close one, then ask again",
			count(n, "pull request of ralph's is", "pull requests of ralph's are")),
		Limit: "setting `github.maxOpenPrs`",
		Full:  n > len(a.Open),
	}
}

// usd formats an amount, rounded down to cents so that it fits.
func usd(amount float64) string { return fmt.Sprintf("%.2f", float64(int64(amount*100+1e-6))/100) }

func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
