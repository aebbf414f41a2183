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

// Iterations of a loop in a session begin with 0.
func TestIterationZero(t *testing.T) {
	page, markdown := storyRow(t, began(), step{time.Second, journal.IterationBegan{Number: 0}}, step{time.Second, journal.AgentEnded{Failed: true, Why: "no"}})
	if !strings.Contains(page, `<h3 id="iteration-0">Iteration 0`) || !strings.Contains(page, `<a href="#iteration-0">iteration 0</a>`) {
		t.Error("there is no iteration 0 on the page")
	}
	if !strings.Contains(markdown, "- iteration 0\n") || !strings.Contains(markdown, "| 0 |") {
		t.Errorf("there is no iteration 0 in\n%s", markdown)
	}
}

// The bad lines of each event.
func TestWhatFailed(t *testing.T) {
	holds := journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 1}
	for name, c := range map[string]struct {
		event journal.Event
		want  string
	}{
		"a red check":      {holds, "check test failed (exit 1) in the agent's tree, 0s"},
		"a flaky one":      {journal.CheckEnded{Where: journal.AtHead, Name: "test", Passed: true, Flaky: true}, "flaky: it failed first"},
		"setup":            {journal.SetupEnded{Where: journal.AtWork, Name: "npm ci", Exit: 1}, "setup npm ci failed"},
		"an agent":         {journal.AgentEnded{Failed: true, Why: "no key"}, "agent failed: no key"},
		"the plan":         {journal.PlanRead{Claimed: []string{"US-001"}, Undone: []string{"US-001 was removed"}}, "restored: US-001 was removed"},
		"a protected file": {journal.CommitsTaken{Dropped: []string{"CODEOWNERS"}, Commits: []journal.Commit{{SHA: "c1", Subject: "fine"}}}, "protected file restored: CODEOWNERS"},
		"commits":          {journal.CommitsTaken{Refused: []journal.Finding{{Why: "a link out"}}}, "refused"},
		"version control":  {journal.SCMEnded{Task: "push", Failed: true, Why: "no remote"}, "push failed: no remote"},
		"GitHub":           {journal.PublishFailed{Act: "push", Why: "403"}, "could not push the work: 403"},
		"the sandbox":      {journal.EgressRefused{What: "evil.example:443", Why: "not on the list"}, "refused: evil.example:443"},
		"a proof":          {journal.ProofEnded{Commit: "c1", Result: journal.Failed, Why: "test"}, "the whole change (c1): Failed: test"},
		"an unknown one":   {journal.ProofEnded{Story: "US-001", Commit: "c1", Passed: true, Result: journal.Unknown}, "US-001 (c1): Unknown"},
		"one to look at":   {journal.ProofEnded{Story: "US-001", Commit: "c1", Passed: true, Result: journal.NeedsReview, Why: "A fails"}, "US-001 (c1): Needs review: A fails"},
		"no new test":      {journal.ProofEnded{Story: "US-001", Commit: "c1", Passed: true, Result: journal.NoNewFailingTest, Why: "it added no test"}, "US-001 (c1): No new failing test: it added no test"},
		"a base":           {journal.BaselineEnded{Why: "no check runs"}, "baseline checked: no check runs"},
		"an opinion":       {journal.StoryReviewed{Story: "US-001", By: "codex", Missed: []journal.Missed{{Criterion: 1, Why: "is not there", File: "a.go", Line: 3}}}, "criterion 1: is not there"},
		"no opinion":       {journal.StoryReviewed{Story: "US-001", By: "codex", Why: "it failed"}, "there is none: it failed"},
		"a claim":          {journal.IterationEnded{Number: 1, Passed: []string{"US-001"}, Rejected: []journal.Rejection{{Claim: "US-002", Why: "no"}}}, "rejected: US-002: no"},
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

// An expected failure has no bad line: a story's tests must fail on the base.
func TestWhatDidNotFail(t *testing.T) {
	for _, event := range []journal.Event{
		journal.CheckEnded{Where: journal.AtNewTests, Name: "test", Exit: 1},
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Exit: 1},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.SetupEnded{Where: journal.AtWork, Name: "npm ci", Passed: true},
		journal.PlanRead{Claimed: []string{"US-001"}},
		journal.CommitsTaken{Commits: []journal.Commit{{SHA: "c1", Subject: "fine"}}},
		journal.ProofEnded{Story: "US-001", Commit: "c1", Passed: true, Result: journal.Proven},
		journal.BaselineEnded{Usable: true},
		journal.StoryReviewed{Story: "US-001", Looked: 1},
		journal.IterationEnded{Number: 1, Story: "US-001"},
		journal.RunStopped{Reason: policy.MaxIterations},
	} {
		page, _ := storyRow(t, began(), step{time.Second, journal.IterationBegan{Number: 1, Story: "US-001"}}, step{time.Second, event})
		if strings.Contains(page, "What failed") {
			t.Errorf("%s is called a failure", journal.Type(event))
		}
	}
}
