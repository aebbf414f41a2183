package verdict_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// fold returns the run after these events, which are a minute apart.
func fold(events ...journal.Event) journal.Run {
	var run journal.Run
	for i, event := range events {
		at := time.Date(2026, 11, 20, 12, i, 0, 0, time.UTC)
		run = journal.Fold(run, journal.Entry{Seq: i + 1, At: at, Event: event})
	}
	return run
}

// beginRun returns the start of a run with two stories and one check, without limits and GitHub. change may change it.
func beginRun(change func(*journal.RunBegan)) journal.RunBegan {
	began := journal.RunBegan{
		Run: "r1", Base: "b0", Start: "b0", Tree: "tree-b0",
		Policy: policy.Policy{Done: policy.ByStories, Checks: []policy.Check{{Name: "test"}}},
		Plan:   plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}},
	}
	change(&began)
	return began
}

func limited(change func(*policy.Limits)) journal.RunBegan {
	return beginRun(func(b *journal.RunBegan) { change(&b.Policy.Limits) })
}

// beginRunBy returns the start of a run without stories.
func beginRunBy(done policy.Done, change func(*policy.Policy)) journal.RunBegan {
	return beginRun(func(b *journal.RunBegan) {
		b.Plan, b.Policy.Done, b.Policy.Word = plan.Plan{}, done, "DONE"
		if change != nil {
			change(&b.Policy)
		}
	})
}

// iteration describes the events of an iteration.
type iteration struct {
	number   int
	story    string
	agent    journal.AgentEnded
	check    journal.CheckEnded
	work, to string
	stories  []string
	unjudged bool
}

func (p iteration) events() []journal.Event {
	if p.number == 0 {
		p.number = 1
	}
	p.check.Where, p.check.Name = journal.AtWork, "test"
	all := []journal.Event{journal.IterationBegan{Number: p.number, Story: p.story}, p.agent}
	all = append(all, p.check, journal.CommitsTaken{From: "b0", To: p.to, Tree: "tree-" + p.to, Work: p.work})
	if !p.unjudged {
		all = append(all, journal.IterationEnded{Number: p.number, Story: p.story, Passed: p.stories})
	}
	return all
}

// runWith returns a run with these iterations.
func runWith(began journal.RunBegan, passes ...iteration) journal.Run {
	events := []journal.Event{began}
	for _, p := range passes {
		events = append(events, p.events()...)
	}
	return fold(events...)
}

func wantNext(t *testing.T, why, want string, run journal.Run) {
	t.Helper()
	if got := describe(verdict.Next(run)); got != want {
		t.Errorf("%s: Next = %q, want %q", why, got, want)
	}
}

func TestLimitsEndARunWhenTheyAreReached(t *testing.T) {
	costs := func(usd float64, tokens int64) iteration {
		return iteration{story: "US-001", to: "b0", agent: journal.AgentEnded{Cost: stream.Cost{USD: usd, Known: true}, Usage: stream.Usage{Output: tokens}}}
	}
	cents := limited(func(l *policy.Limits) { l.CostUSD = 0.5 })
	tokens := limited(func(l *policy.Limits) { l.Tokens = 1000 })
	short := limited(func(l *policy.Limits) { l.Run = policy.Duration(5 * time.Minute) })
	long := limited(func(l *policy.Limits) { l.Run = policy.Duration(6 * time.Minute) })
	wantNext(t, "half a dollar left of none", "stop: budget_exhausted: $0.50 of $0.50 spent", runWith(cents, costs(0.5, 0)))
	wantNext(t, "a cent left", "iterate: 2 on US-001", runWith(cents, costs(0.49, 0)))
	wantNext(t, "every token used", "stop: budget_exhausted: 1000 of 1000 tokens used", runWith(tokens, costs(0, 1000)))
	wantNext(t, "a token left", "iterate: 2 on US-001", runWith(tokens, costs(0, 999)))
	ended := iteration{story: "US-001", to: "b0", agent: journal.AgentEnded{Failed: true, Overspent: true, Why: "the server has stopped"}}
	wantNext(t, "an unknown cost, and the server has stopped", "stop: budget_exhausted: the server has stopped", runWith(cents, ended))
	wantNext(t, "all the time gone", "stop: timeout: 5m of 5m used", runWith(short, costs(0, 0)))
	wantNext(t, "a minute left", "iterate: 2 on US-001", runWith(long, costs(0, 0)))
}

func TestAgentsThatFailEndARun(t *testing.T) {
	failed := func(number int, failed bool) iteration {
		return iteration{number: number, story: "US-001", to: "b0", agent: journal.AgentEnded{Failed: failed, Why: "it broke"}}
	}
	one := limited(func(l *policy.Limits) { l.Failures = 1 })
	two := limited(func(l *policy.Limits) { l.Failures = 2 })
	wantNext(t, "one failure of one", "stop: fatal_error: the agent failed 1 times in a row: it broke", runWith(one, failed(1, true)))
	wantNext(t, "one failure of two", "iterate: 2 on US-001", runWith(two, failed(1, true)))
	cannot := []journal.Event{two, journal.IterationBegan{Number: 1, Story: "US-001"}, journal.AgentEnded{CannotRun: true, Failed: true}}
	wantNext(t, "one that cannot run", "judge: 1 on US-001: green false, worked false, passed []", fold(cannot...))
	wantNext(t, "two failures, not in a row", "iterate: 4 on US-001", runWith(two, failed(1, true), failed(2, false), failed(3, true)))
}

func TestARunStallsOnTheSameTreeAndTheSameResult(t *testing.T) {
	began := limited(func(l *policy.Limits) { l.Stall = 2 })
	like := func(number int, change func(*iteration)) iteration {
		p := iteration{number: number, story: "US-001", work: "w", to: "b0", check: journal.CheckEnded{Exit: 1, Digest: "d"}}
		change(&p)
		return p
	}
	same := func(*iteration) {}
	const stalled = "stop: stalled: 2 iterations in a row left the same tree and the same result"
	digest := func(p *iteration) { p.check.Digest = "e" }
	unseen := func(digest string) func(*iteration) {
		return func(p *iteration) { p.work, p.check.Digest = "", digest }
	}
	for _, c := range []struct {
		why    string
		passes []iteration
		want   string
	}{
		{"the same", []iteration{like(1, same), like(2, same)}, stalled},
		{"another output of the same tree", []iteration{like(1, same), like(2, digest)}, stalled},
		{"another tree", []iteration{like(1, same), like(2, func(p *iteration) { p.work = "x" })}, "iterate: 3 on US-001"},
		{"another story", []iteration{like(1, func(p *iteration) { p.story = "US-002" }), like(2, same)}, "iterate: 3 on US-001"},
		{"no tree to compare, another output", []iteration{like(1, unseen("d")), like(2, unseen("e"))}, "iterate: 3 on US-001"},
	} {
		wantNext(t, c.why, c.want, runWith(began, c.passes...))
	}
	once := limited(func(l *policy.Limits) { l.Stall = 1 })
	passed := like(1, func(p *iteration) { p.stories = []string{"US-001"} })
	wantNext(t, "a story that passes is no stall", "iterate: 2 on US-002", runWith(once, passed))
}

func TestOnlyWorkBearsAClaimOut(t *testing.T) {
	claim := func(p iteration) []journal.Event {
		p.unjudged, p.agent.Promises, p.check.Passed = true, []string{"DONE"}, true
		return p.events()
	}
	seen := func(b *journal.RunBegan) { b.Work = "w0" }
	tag := func(change func(*journal.RunBegan)) journal.RunBegan {
		began := beginRunBy(policy.ByTag, nil)
		change(&began)
		return began
	}
	const (
		done   = "judge: 1 on the prompt: green true, worked true, passed [], done"
		broken = "judge: 1 on the prompt: green true, worked true, passed []\nrejected DONE: the agent itself failed: exit 1"
		idle   = "judge: 1 on the prompt: green true, worked false, passed []\nrejected DONE: no work was done: no tool was called and nothing changed"
	)
	for _, c := range []struct {
		why   string
		began journal.RunBegan
		pass  iteration
		want  string
	}{
		{"a tool", tag(seen), iteration{work: "w0", to: "b0", agent: journal.AgentEnded{Tools: 2, Chores: 1}}, done},
		{"chores alone", tag(seen), iteration{work: "w0", to: "b0", agent: journal.AgentEnded{Tools: 1, Chores: 1}}, idle},
		{"another tree than the run found", tag(seen), iteration{work: "w1", to: "b0"}, done},
		{"the tree that the run found", tag(seen), iteration{work: "w0", to: "c1"}, idle},
		{"a commit, without an earlier look", beginRunBy(policy.ByTag, nil), iteration{work: "w", to: "c1"}, done},
		{"no commit, without an earlier look", beginRunBy(policy.ByTag, nil), iteration{work: "w", to: "b0"}, idle},
		{"no tree, of an agent that cannot be seen", tag(seen), iteration{agent: journal.AgentEnded{Blind: true}}, done},
		{"an agent that failed", tag(seen), iteration{agent: journal.AgentEnded{Tools: 1, Failed: true, Why: "exit 1"}}, broken},
		{"no commit, of an agent that cannot be seen", beginRunBy(policy.ByTag, nil), iteration{work: "w", agent: journal.AgentEnded{Blind: true}}, done},
	} {
		wantNext(t, c.why, c.want, fold(append([]journal.Event{c.began}, claim(c.pass)...)...))
	}
	dirty := slices.Concat([]journal.Event{beginRunBy(policy.ByTag, nil)}, claim(iteration{work: "w", to: "b0"}))
	dirty[len(dirty)-1] = journal.CommitsTaken{From: "b0", To: "b0", Work: "w", Dirty: true}
	wantNext(t, "uncommitted, without an earlier look", done, fold(dirty...))
}

func TestRejectedClaims(t *testing.T) {
	three := func(b *journal.RunBegan) {
		b.Policy.Word = "COMPLETE"
		b.Policy.Checks = []policy.Check{{Name: "test"}, {Name: "lint"}, {Name: "old"}}
		b.Plan.UserStories = append(b.Plan.UserStories, plan.Story{ID: "US-003"})
	}
	red := func(name string) journal.Event { return journal.CheckEnded{Where: journal.AtWork, Name: name} }
	events := []journal.Event{
		beginRun(three),
		journal.CheckEnded{Where: journal.AtBase, Name: "old"},
		journal.BaselineEnded{Usable: true},
		journal.IterationBegan{Number: 1, Story: "US-001"},
		journal.AgentEnded{Tools: 1, Promises: []string{"COMPLETE"}},
		journal.PlanRead{Plan: beginRun(three).Plan, Claimed: []string{"US-001"}},
		red("test"), red("lint"), red("old"),
		journal.CommitsTaken{From: "b0", To: "b0", Work: "w"},
	}
	wantNext(t, "only blocking checks are named", "judge: 1 on US-001: green false, worked true, passed []"+
		"\nrejected US-001: checks failed: test, lint"+
		"\nrejected <promise>COMPLETE</promise>: still open: US-001, US-002, US-003", fold(events...))
}

func TestSessionLimits(t *testing.T) {
	began := func(limit, tools, most int) journal.RunBegan {
		return beginRunBy(policy.ByPromise, func(p *policy.Policy) {
			p.Limits.Iterations, p.Session, p.Checks = limit, policy.SessionRules{MinTools: tools, Cap: most}, nil
		})
	}
	checked := began(2, 1, 0)
	checked.Policy.Checks = []policy.Check{{Name: "test"}}
	red := journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 1}
	green := journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true}
	idle := func(n int) (all []journal.Event) {
		for number := range n {
			all = append(all, journal.IterationBegan{Number: number}, journal.AgentEnded{}, journal.IterationEnded{Number: number})
		}
		return all
	}
	said := func(tools int) []journal.Event {
		return []journal.Event{journal.IterationBegan{}, journal.AgentEnded{Tools: tools, Promises: []string{"DONE"}}}
	}
	for _, c := range []struct {
		why   string
		began journal.RunBegan
		then  []journal.Event
		want  string
	}{
		{"as many calls as asked for", began(2, 3, 0), said(3), "judge: 0 on the prompt: green true, worked true, passed [], done"},
		{"no call where none is asked for", began(2, 0, 0), said(0), "judge: 0 on the prompt: green true, worked false, passed [], done"},
		{"a promise, before the checks", checked, said(1), "check"},
		{"a promise and a red check", checked, append(said(1), red), "judge: 0 on the prompt: green false, worked true, passed []\nrejected <promise>DONE</promise>: checks failed: test"},
		{"a promise and a green check", checked, append(said(1), green), "judge: 0 on the prompt: green true, worked true, passed [], done"},
		{"sent back as often as the limit allows", began(2, 1, 0), idle(2), "iterate: 2 on the prompt"},
		{"and once more", began(2, 1, 0), idle(3), "stop: max_iterations: MAX_ITERATIONS_REACHED: sent back to work 2 times"},
		{"refused as often as the agent's program allows", began(9, 1, 1), idle(1), "iterate: 1 on the prompt"},
		{"and once more", began(9, 1, 1), idle(2), "stop: waiting: the agent's program allows at most 1 refused stops in a row without a tool call"},
		{"killed in its third iteration", began(9, 1, 0), append(idle(2), journal.IterationBegan{Number: 2}), "iterate: 2 on the prompt"},
	} {
		wantNext(t, c.why, c.want, fold(append([]journal.Event{c.began}, c.then...)...))
	}
}

func TestRetryDelays(t *testing.T) {
	turned := func(times int, limit time.Duration) journal.Run {
		began := limited(func(l *policy.Limits) { l.Run = policy.Duration(limit) })
		run := fold(began)
		run = journal.Fold(run, journal.Entry{At: run.Clock.Began, Event: journal.IterationBegan{Number: 1, Story: "US-001"}})
		for range times {
			run = journal.Fold(run, journal.Entry{At: run.Clock.Began, Event: journal.AgentEnded{Busy: true, Failed: true, Why: "busy"}})
		}
		return journal.Fold(run, journal.Entry{At: run.Clock.Began, Event: journal.CommitsTaken{Work: "w"}})
	}
	wantNext(t, "but not for ever", "pause: 15m0s: busy", turned(7, 0))
	wantNext(t, "for the last time", "pause: 15m0s: busy", turned(20, 0))
	wantNext(t, "no more", "stop: waiting: the model did not answer, 21 times in a row: busy", turned(21, 0))
	wantNext(t, "while there is time left", "pause: 30s: busy", turned(1, 31*time.Second))
	wantNext(t, "not if the delay uses all of it", "stop: waiting: the model takes requests again in 30s, and the run's time ends before: busy",
		turned(1, 30*time.Second))
}
