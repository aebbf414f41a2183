// Package stats sums up the pull requests of a repository's ledger: how many there were, how they ended, and what the
// merged ones cost. It takes the ledger's rows and returns numbers, or a table of them.
package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Stats are the pull requests of a repository.
type Stats struct {
	Total   Row   `json:"total"`
	ByMonth []Row `json:"by_month"` // of the opening, in UTC
	ByAgent []Row `json:"by_agent"`
}

// Row sums up some pull requests. What is unknown is null, and never 0.
type Row struct {
	Name             string   `json:"name"`
	Opened           int      `json:"opened"`
	Merged           int      `json:"merged"`
	Closed           int      `json:"closed"` // and not merged
	Open             int      `json:"open"`
	USDPerMerged     *float64 `json:"usd_per_merged"` // mean of the merged whose cost is known
	MinutesPerMerged *float64 `json:"minutes_per_merged"`
	UnknownCost      int      `json:"merged_with_unknown_cost"`
}

// Of sums up the rows of a ledger.
func Of(pulls []quota.Pull) Stats {
	months := map[string][]quota.Pull{}
	agents := map[string][]quota.Pull{}
	for _, p := range pulls {
		month := p.Opened.UTC().Format("2006-01")
		months[month] = append(months[month], p)
		agents[agentsOf(p)] = append(agents[agentsOf(p)], p)
	}
	return Stats{Total: row("all", pulls), ByMonth: rows(months), ByAgent: rows(agents)}
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
	var usd, minutes []float64
	for _, p := range pulls {
		switch {
		case p.End == "":
			r.Open++
			continue
		case p.End != quota.Merged:
			r.Closed++
			continue
		}
		r.Merged++
		if cost := costOf(p); cost != nil {
			usd = append(usd, *cost)
		} else {
			r.UnknownCost++
		}
		if len(p.Runs) > 0 {
			minutes = append(minutes, sum(p, func(run quota.PullRun) float64 { return run.Minutes }))
		}
	}
	r.USDPerMerged = mean(usd)
	r.MinutesPerMerged = mean(minutes)
	return r
}

// costOf returns what all runs on a pull request cost; nil where one is unknown.
func costOf(p quota.Pull) *float64 {
	if len(p.Runs) == 0 || slices.ContainsFunc(p.Runs, func(run quota.PullRun) bool { return run.USD == nil }) {
		return nil
	}
	total := sum(p, func(run quota.PullRun) float64 { return *run.USD })
	return &total
}

func sum(p quota.Pull, of func(quota.PullRun) float64) float64 {
	total := 0.0
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

// Text returns a table by month and one by agent.
func (s Stats) Text() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	write := func(by string, rows []Row) {
		fmt.Fprintf(table, "%s\topened\tmerged\tclosed\topen\t$ / merged\tminutes / merged\n", by)
		for _, r := range rows {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\t%s\n",
				r.Name, r.Opened, r.Merged, r.Closed, r.Open,
				number("%.2f", r.USDPerMerged),
				number("%.1f", r.MinutesPerMerged),
			)
		}
	}
	write("month", append(slices.Clone(s.ByMonth), s.Total))
	fmt.Fprintln(table) // ends the columns
	write("agent", s.ByAgent)
	_ = table.Flush() // to memory
	return out.String()
}

// number returns a number as text; "-" is unknown.
func number(format string, v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}

// Markdown returns the same for a job's summary.
func (s Stats) Markdown() string {
	return "## Pull requests of ralph\n\n```text\n" + s.Text() + "```\n"
}
