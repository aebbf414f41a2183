package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// step is an event, and the time since the one before.
type step struct {
	after time.Duration
	event journal.Event
}

func storyRow(t *testing.T, steps ...step) (page, markdown string) {
	t.Helper()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := report.Source{Hide: asIs, Read: noFile}
	for i, step := range steps {
		at = at.Add(step.after)
		s.Entries = append(s.Entries, journal.Entry{Seq: i + 1, At: at, Event: step.event})
	}
	text, err := s.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	return html(t, s), string(text)
}

func began() step {
	p := policy.ForPreset(policy.ByStories)
	p.Agent = "claude"
	return step{0, journal.RunBegan{Run: "r1", Policy: p, Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}}}
}

func paid(usd float64) journal.AgentEnded {
	return journal.AgentEnded{Cost: stream.Cost{USD: usd, Known: true}}
}

// The time before an event counts for that event; after a pause it is waiting, and
// before a resume it is idle.
func TestWhereTheTimeWent(t *testing.T) {
	check := func(where journal.Where) journal.Event {
		return journal.CheckEnded{Where: where, Name: "test", Passed: true}
	}
	page, markdown := storyRow(t,
		began(),
		step{20 * time.Second, check(journal.AtBase)},
		step{time.Second, journal.IterationBegan{Number: 1, Story: "US-001"}},
		step{time.Minute, journal.AgentEnded{Busy: true, Failed: true, Why: "busy"}},
		step{time.Second, journal.Paused{MS: 240_000, Why: "busy"}},
		step{4 * time.Minute, journal.IterationBegan{Number: 1, Story: "US-001"}},
		step{time.Hour, journal.Resumed{Why: "asked to"}},
		step{time.Second, journal.IterationBegan{Number: 1, Story: "US-001"}},
		step{2 * time.Minute, paid(0.5)},
		step{10 * time.Second, check(journal.AtWork)},
		step{30 * time.Second, check(journal.AtHead)},
		step{25 * time.Second, check(journal.AtNewTests)},
		step{15 * time.Second, journal.ProofEnded{Story: "US-001", Passed: true, Result: journal.Proven}},
		step{time.Second, journal.IterationEnded{Number: 1, Story: "US-001", Passed: []string{"US-001"}}},
		step{time.Second, journal.IterationBegan{Number: 2}},
		step{time.Minute, paid(0.25)},
	)
	for _, want := range []string{
		`The whole run: agent 4m, checks 30s, proof 1m10s, waiting 4m, other 5s<`,
		`<td data-column="where its time went">agent 3m, checks 10s, proof 1m10s, waiting 4m, other 4s</td>`,
		"Idle: 1h",
		"<td data-column=\"time\">8m24s</td>\n<td data-column=\"cost\">at least $0.50</td>",
		`href="#iteration-2"`, "<td data-column=\"time\">1m1s</td>\n<td data-column=\"cost\">$0.25</td>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if want := "| 1 | US-001 | agent 3m, checks 10s, proof 1m10s, waiting 4m, other 4s | 8m24s | at least $0.50 | with failures |"; !strings.Contains(markdown, want) {
		t.Errorf("not in\n%s\n%s", markdown, want)
	}
}

// The bad lines of each event.
func TestWhatFailed(t *testing.T) {
	holds := journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 1}
	for name, c := range map[string]struct {
		event journal.Event
		want  string
	}{
		"a red check": {holds, "check test failed (exit 1) in the agent's tree, 0s"},
		"an agent":    {journal.AgentEnded{Failed: true, Why: "no key"}, "agent failed: no key"},
		"the sandbox": {journal.EgressRefused{What: "evil.example:443", Why: "not on the list"}, "refused: evil.example:443"},
		"a proof":     {journal.ProofEnded{Commit: "c1", Result: journal.Failed, Why: "test"}, "the whole change (c1): Failed: test"},
		"an opinion":  {journal.StoryReviewed{Story: "US-001", By: "codex", Missed: []journal.Missed{{Criterion: 1, Why: "is not there", File: "a.go", Line: 3}}}, "criterion 1: is not there"},
		"a claim":     {journal.IterationEnded{Number: 1, Passed: []string{"US-001"}, Rejected: []journal.Rejection{{Claim: "US-002", Why: "no"}}}, "rejected: US-002: no"},
	} {
		page, markdown := storyRow(t, began(), step{time.Second, journal.IterationBegan{Number: 1, Story: "US-001"}}, step{time.Millisecond, c.event})
		_, list, _ := strings.Cut(page, "<h2>What failed")
		list, _, found := strings.Cut(list, "<h2>")
		if !found || !strings.Contains(list, c.want) || strings.Contains(list, "fine") || strings.Contains(list, "claims") || strings.Contains(list, "US-001 passed") {
			t.Errorf("%s: failures are %s, want %s", name, list, c.want)
		}
		if !strings.Contains(markdown, "- iteration 1, US-001") {
			t.Errorf("%s is not in\n%s", name, markdown)
		}
	}
}
