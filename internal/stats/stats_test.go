package stats_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/stats"
)

func at(month time.Month) time.Time { return time.Date(2026, month, 5, 0, 0, 0, 0, time.UTC) }

func run(agent string, usd float64, minutes float64, suites int) quota.PullRun {
	return quota.PullRun{ID: agent, Agent: agent, USD: &usd, Minutes: minutes, Suites: suites}
}

var pulls = []quota.Pull{
	{Number: 1, Opened: at(9), End: quota.Unchanged, Runs: []quota.PullRun{run("claude", 1, 10, 2), run("claude", 0.5, 2, 1)}},
	{Number: 2, Opened: at(9), End: quota.Changed, Runs: []quota.PullRun{run("claude", 2.5, 4, 1)}},
	{Number: 3, Opened: at(10), End: quota.Closed, Runs: []quota.PullRun{run("codex", 9, 90, 9)}},
	{Number: 4, Opened: at(10), Runs: []quota.PullRun{run("codex", 9, 90, 9)}},
	{Number: 5, Opened: at(10), End: quota.Unchanged, Runs: []quota.PullRun{{ID: "x", Agent: "co|dex", Minutes: 6, Suites: 2}}},
	{Number: 6, Opened: at(11), End: quota.Changed},
}

func TestText(t *testing.T) {
	want := `month    opened  merged  closed  open  unchanged  $ / merged  minutes / merged  suites / merged
2026-09  2       2       0       0     50%        2.00        8.0               2.0
2026-10  3       1       1       1     100%       -           6.0               2.0
2026-11  1       1       0       0     0%         -           -                 -
all      6       4       1       1     50%        2.00        7.3               2.0

agent    opened  merged  closed  open  unchanged  $ / merged  minutes / merged  suites / merged
claude   2       2       0       0     50%        2.00        8.0               2.0
co?dex   1       1       0       0     100%       -           6.0               2.0
codex    2       0       1       1     -          -           -                 -
unknown  1       1       0       0     0%         -           -                 -
`
	if diff := cmp.Diff(want, stats.Of(pulls, time.Time{}).Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// What is unknown is null in JSON, and what was opened earlier is left out.
func TestUnknownIsNull(t *testing.T) {
	data, err := json.Marshal(stats.Of(pulls, at(11)))
	if err != nil {
		t.Fatal(err)
	}
	const row = `"opened":1,"merged":1,"closed":0,"open":0,"merged_unchanged_share":0,"usd_per_merged":null,"minutes_per_merged":null,"suites_per_merged":null,"merged_with_unknown_cost":1}`
	want := `{"since":"2026-11-05","total":{"name":"all",` + row + `,"by_month":[{"name":"2026-11",` + row + `],"by_agent":[{"name":"unknown",` + row + `]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	none := stats.Of(nil, time.Time{})
	if none.Total.Unchanged != nil || none.ByMonth == nil || none.ByAgent == nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// A name from the ledger cannot end a cell of the table.
func TestMarkdown(t *testing.T) {
	got := stats.Of(pulls, time.Time{}).Markdown()
	for _, want := range []string{"| all | 6 | 4 | 1 | 1 | 50% | 2.00 | 7.3 | 2.0 |\n", "| co?dex | 1 |", "|---|---|---|---|---|---|---|---|---|\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
