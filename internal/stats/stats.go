// Package stats sums up the pull requests of a repository's ledger: how many there were,
// how they ended, and what the merged ones cost. It takes the ledger's rows and returns
// numbers, or a table of them.
package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/quota"
)

// Stats are the pull requests opened since a day, in UTC.
type Stats struct {
	Since   string `json:"since,omitempty"` // empty: all
	Total   Row    `json:"total"`
	ByMonth []Row  `json:"by_month"` // of the opening
	ByAgent []Row  `json:"by_agent"`
}

// Row sums up some pull requests. What is unknown is null, and never 0.
type Row struct {
	Name             string   `json:"name"`
	Opened           int      `json:"opened"`
	Merged           int      `json:"merged"`
	Closed           int      `json:"closed"` // and not merged
	Open             int      `json:"open"`
	Unchanged        *float64 `json:"merged_unchanged_share"` // of the merged: those without a person's commit
	USDPerMerged     *float64 `json:"usd_per_merged"`         // mean of the merged whose cost is known
	MinutesPerMerged *float64 `json:"minutes_per_merged"`
	SuitesPerMerged  *float64 `json:"suites_per_merged"`
	UnknownCost      int      `json:"merged_with_unknown_cost"`
}

// Of sums up the rows of a ledger that were opened since a time.
func Of(pulls []quota.Pull, since time.Time) Stats {
	months, agents := map[string][]quota.Pull{}, map[string][]quota.Pull{}
	var all []quota.Pull
	for _, p := range pulls {
		if p.Opened.Before(since) {
			continue
		}
		all = append(all, p)
		month := p.Opened.UTC().Format("2006-01")
		months[month] = append(months[month], p)
		agents[agentsOf(p)] = append(agents[agentsOf(p)], p)
	}
	s := Stats{Total: row("all", all), ByMonth: rows(months), ByAgent: rows(agents)}
	if !since.IsZero() {
		s.Since = since.UTC().Format(time.DateOnly)
	}
	return s
}

// unusual is what no agent has in its name. Everyone who may push can write the ledger.
var unusual = pattern.Of(`[^A-Za-z0-9._-]+|.{40,}`)

func agentsOf(p quota.Pull) string {
	var names []string
	for _, run := range p.Runs {
		names = append(names, unusual.ReplaceAllString(run.Agent, "?"))
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(slices.Compact(names), "+"), "unknown")
}

func rows(groups map[string][]quota.Pull) []Row {
	all := []Row{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, row(name, groups[name]))
	}
	return all
}

func row(name string, pulls []quota.Pull) Row {
	r := Row{Name: name, Opened: len(pulls)}
	var unchanged, usd, minutes, suites []float64
	for _, p := range pulls {
		switch {
		case p.End == "":
			r.Open++
			continue
		case !p.End.Merged():
			r.Closed++
			continue
		}
		r.Merged++
		unchanged = append(unchanged, share(p.End == quota.Unchanged))
		if cost := costOf(p); cost != nil {
			usd = append(usd, *cost)
		} else {
			r.UnknownCost++
		}
		if len(p.Runs) > 0 {
			minutes, suites = append(minutes, sum(p, func(run quota.PullRun) float64 { return run.Minutes })), append(suites, sum(p, func(run quota.PullRun) float64 { return float64(run.Suites) }))
		}
	}
	r.Unchanged, r.USDPerMerged, r.MinutesPerMerged, r.SuitesPerMerged = mean(unchanged), mean(usd), mean(minutes), mean(suites)
	return r
}

func share(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// costOf returns what all runs on a pull request cost; nil where one is unknown.
func costOf(p quota.Pull) *float64 {
	if len(p.Runs) == 0 || slices.ContainsFunc(p.Runs, func(run quota.PullRun) bool { return run.USD == nil }) {
		return nil
	}
	total := sum(p, func(run quota.PullRun) float64 { return *run.USD })
	return &total
}

func sum(p quota.Pull, of func(quota.PullRun) float64) (total float64) {
	for _, run := range p.Runs {
		total += of(run)
	}
	return total
}

func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	total := 0.0
	for _, v := range values {
		total += v
	}
	total /= float64(len(values))
	return &total
}

var head = []string{"opened", "merged", "closed", "open", "unchanged", "$ / merged", "minutes / merged", "suites / merged"}

// cells returns a row as text; "-" is unknown.
func (r Row) cells() []string {
	number := func(v *float64, scale float64, digits int, unit string) string {
		if v == nil {
			return "-"
		}
		return strconv.FormatFloat(*v*scale, 'f', digits, 64) + unit
	}
	return []string{
		strconv.Itoa(r.Opened), strconv.Itoa(r.Merged), strconv.Itoa(r.Closed), strconv.Itoa(r.Open),
		number(r.Unchanged, 100, 0, "%"), number(r.USDPerMerged, 1, 2, ""), number(r.MinutesPerMerged, 1, 1, ""), number(r.SuitesPerMerged, 1, 1, ""),
	}
}

func (s Stats) tables(write func(cells []string, heading bool)) {
	for _, t := range []struct {
		by   string
		rows []Row
	}{{"month", append(slices.Clone(s.ByMonth), s.Total)}, {"agent", s.ByAgent}} {
		write(append([]string{t.by}, head...), true)
		for _, r := range t.rows {
			write(append([]string{r.Name}, r.cells()...), false)
		}
	}
}

// Text returns the tables for a terminal.
func (s Stats) Text() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	first := true
	s.tables(func(cells []string, heading bool) {
		if heading && !first {
			fmt.Fprintln(table) // which ends the columns
		}
		first = false
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	})
	_ = table.Flush() // to memory
	return out.String()
}

// Markdown returns the tables for a job's summary.
func (s Stats) Markdown() string {
	var out strings.Builder
	out.WriteString("## Pull requests of ralph\n")
	s.tables(func(cells []string, heading bool) {
		if heading {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
		if heading {
			out.WriteString("|" + strings.Repeat("---|", len(cells)) + "\n")
		}
	})
	return out.String()
}
