package stats_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/show/stats"
)

func at(month time.Month) time.Time { return time.Date(2026, month, 5, 0, 0, 0, 0, time.UTC) }

func run(agent string, usd float64, minutes float64) quota.PullRun {
	return quota.PullRun{ID: agent, Agent: agent, USD: &usd, Minutes: minutes}
}

var pulls = []quota.Pull{
	{Number: 1, Opened: at(9), End: quota.Merged, Runs: []quota.PullRun{run("claude", 1, 10), run("claude", 0.5, 2)}},
	{Number: 2, Opened: at(9), End: quota.Merged, Runs: []quota.PullRun{run("claude", 2.5, 4)}},
	{Number: 3, Opened: at(10), End: quota.Closed, Runs: []quota.PullRun{run("codex", 9, 90)}},
	{Number: 4, Opened: at(10), Runs: []quota.PullRun{run("codex", 9, 90)}},
	{Number: 5, Opened: at(10), End: quota.Merged, Runs: []quota.PullRun{{ID: "x", Agent: "co|dex", Minutes: 6}}},
	{Number: 6, Opened: at(11), End: quota.Merged},
}

func TestText(t *testing.T) {
	want := `month    opened  merged  closed  open  $ / merged  minutes / merged
2026-09  2       2       0       0     2.00        8.0
2026-10  3       1       1       1     -           6.0
2026-11  1       1       0       0     -           -
all      6       4       1       1     2.00        7.3

agent    opened  merged  closed  open  $ / merged  minutes / merged
claude   2       2       0       0     2.00        8.0
co?dex   1       1       0       0     -           6.0
codex    2       0       1       1     -           -
unknown  1       1       0       0     -           -
`
	if diff := cmp.Diff(want, stats.Of(pulls).Text()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// What is unknown is null in JSON.
func TestUnknownIsNull(t *testing.T) {
	data, err := json.Marshal(stats.Of(pulls[5:]))
	if err != nil {
		t.Fatal(err)
	}
	const row = `"opened":1,"merged":1,"closed":0,"open":0,"usd_per_merged":null,"minutes_per_merged":null,"merged_with_unknown_cost":1}`
	want := `{"total":{"name":"all",` + row + `,"by_month":[{"name":"2026-11",` + row + `],"by_agent":[{"name":"unknown",` + row + `]}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	none := stats.Of(nil)
	if none.ByMonth == nil || none.ByAgent == nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// A name from the ledger cannot end the block of text.
func TestMarkdown(t *testing.T) {
	hostile := append(slices.Clone(pulls), quota.Pull{Number: 7, Opened: at(11), Runs: []quota.PullRun{run("a\n```\nb", 1, 1)}})
	got := stats.Of(hostile).Markdown()
	if strings.Count(got, "```") != 2 || !strings.HasSuffix(got, "\n```\n") || !strings.Contains(got, "\na?b ") {
		t.Error(got)
	}
}

// What one pull request counts as.
func TestWhatAPullRequestCountsAs(t *testing.T) {
	night := time.Date(2026, 9, 30, 23, 30, 0, 0, time.FixedZone("", -2*60*60))
	unknown := quota.PullRun{ID: "killed", Agent: "claude", Minutes: 5}
	for name, c := range map[string]struct {
		pull quota.Pull
		want string // month, agent, cells
	}{
		"two agents":           {quota.Pull{Opened: at(9), End: quota.Merged, Runs: []quota.PullRun{run("codex", 1, 1), run("claude", 1, 2), run("codex", 1, 3)}}, "2026-09 claude+codex 1 1 0 0 3.00 6.0"},
		"a month ends in UTC":  {quota.Pull{Opened: night}, "2026-10 unknown 1 0 0 1 - -"},
		"a run was killed":     {quota.Pull{Opened: at(9), End: quota.Merged, Runs: []quota.PullRun{run("claude", 1, 1), unknown}}, "2026-09 claude 1 1 0 0 - 6.0"},
		"a name with commands": {quota.Pull{Opened: at(9), Runs: []quota.PullRun{run("a\n::error::b", 1, 1)}}, "2026-09 a?error?b 1 0 0 1 - -"},
	} {
		lines := strings.Split(stats.Of([]quota.Pull{c.pull}).Text(), "\n")
		month, agent := strings.Fields(lines[1]), strings.Fields(lines[5])
		if got := strings.Join(append([]string{month[0], agent[0]}, month[1:]...), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
