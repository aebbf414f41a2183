package verdict_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// after is the run that events amount to, a minute apart.
func after(events ...journal.Event) journal.Run {
	var run journal.Run
	for i, event := range events {
		at := time.Date(2026, 11, 20, 12, i, 0, 0, time.UTC)
		run = journal.Fold(run, journal.Entry{Seq: i + 1, At: at, Event: event})
	}
	return run
}

// of is a run of two stories under a policy without limits, checks or GitHub,
// but for what change says.
func of(change func(*journal.RunBegan)) journal.RunBegan {
	began := journal.RunBegan{
		Run: "r1", Base: "b0", Start: "b0", Tree: "tree-b0",
		Policy: policy.Policy{Done: policy.ByStories, Checks: []policy.Check{{Name: "test"}}},
		Plan:   plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}},
	}
	change(&began)
	return began
}

func limited(change func(*policy.Limits)) journal.RunBegan {
	return of(func(b *journal.RunBegan) { change(&b.Policy.Limits) })
}

// beginsWith is a run that is done in another way than by stories.
func beginsWith(done policy.Done, change func(*policy.Policy)) journal.RunBegan {
	return of(func(b *journal.RunBegan) {
		b.Plan, b.Policy.Done, b.Policy.Word = plan.Plan{}, done, "DONE"
		if change != nil {
			change(&b.Policy)
		}
	})
}

// pass is an iteration as a run has them, with what differs changed.
type pass struct {
	number    int
	story     string
	agent     journal.AgentEnded
	check     journal.CheckEnded
	work, to  string
	stories   []string
	untaken   bool
	undecided bool
}

func (p pass) events() []journal.Event {
	if p.number == 0 {
		p.number = 1
	}
	p.check.Where, p.check.Name = journal.AtWork, "test"
	all := []journal.Event{journal.IterationBegan{Number: p.number, Story: p.story}, p.agent}
	if !p.untaken {
		all = append(all, p.check, journal.CommitsTaken{From: "b0", To: p.to, Tree: "tree-" + p.to, Work: p.work})
	}
	if !p.undecided {
		all = append(all, journal.IterationEnded{Number: p.number, Story: p.story, Passed: p.stories})
	}
	return all
}

// the is a run of these passes.
func the(began journal.RunBegan, passes ...pass) journal.Run {
	events := []journal.Event{began}
	for _, p := range passes {
		events = append(events, p.events()...)
	}
	return after(events...)
}

func holds(t *testing.T, why, want string, run journal.Run) {
	t.Helper()
	if got := tell(verdict.Next(run)); got != want {
		t.Errorf("%s: Next = %q, want %q", why, got, want)
	}
}

func TestLimitsEndARunWhenTheyAreReached(t *testing.T) {
	costs := func(usd float64, tokens int64) pass {
		return pass{story: "US-001", to: "b0", agent: journal.AgentEnded{Cost: stream.Cost{USD: usd, Known: true}, Usage: stream.Usage{Output: tokens}}}
	}
	cents := limited(func(l *policy.Limits) { l.CostUSD = 0.5 })
	tokens := limited(func(l *policy.Limits) { l.Tokens = 1000 })
	once := limited(func(l *policy.Limits) { l.Iterations = 1 })
	short := limited(func(l *policy.Limits) { l.Run = policy.Duration(5 * time.Minute) })
	long := limited(func(l *policy.Limits) { l.Run = policy.Duration(6 * time.Minute) })
	holds(t, "half a dollar left of none", "stop: budget_exhausted: $0.50 of $0.50 spent", the(cents, costs(0.5, 0)))
	holds(t, "a cent left", "iterate: 2 on US-001", the(cents, costs(0.49, 0)))
	holds(t, "every token used", "stop: budget_exhausted: 1000 of 1000 tokens used", the(tokens, costs(0, 1000)))
	holds(t, "a token left", "iterate: 2 on US-001", the(tokens, costs(0, 999)))
	ended := pass{story: "US-001", to: "b0", agent: journal.AgentEnded{Failed: true, Overspent: true, Why: "the server has stopped"}}
	holds(t, "an unknown cost, and the server has stopped", "stop: budget_exhausted: the server has stopped", the(cents, ended))
	holds(t, "the only iteration used", "stop: max_iterations: 1 of 1 iterations used", the(once, costs(0, 0)))
	holds(t, "all the time gone", "stop: timeout: 5m of 5m used", the(short, costs(0, 0)))
	holds(t, "a minute left", "iterate: 2 on US-001", the(long, costs(0, 0)))
	holds(t, "no limits", "iterate: 2 on US-001", the(limited(func(*policy.Limits) {}), costs(1000, 1e9)))
}

func TestAgentsThatDoNotWorkEndARun(t *testing.T) {
	cannot := pass{story: "US-001", untaken: true, agent: journal.AgentEnded{CannotRun: true, Failed: true, Why: "it is missing"}}
	broke := pass{story: "US-001", to: "b0", agent: journal.AgentEnded{Failed: true, Why: "it broke"}}
	fine := pass{story: "US-001", to: "b0"}
	again := func(p pass, number int) pass { p.number = number; return p }
	ever := limited(func(*policy.Limits) {})
	one := limited(func(l *policy.Limits) { l.Failures = 1 })
	two := limited(func(l *policy.Limits) { l.Failures = 2 })
	undecided := cannot
	undecided.undecided = true
	holds(t, "no plan, check or work of an agent that cannot run", "judge: 1 on US-001: green false, worked false, passed []", the(ever, undecided))
	holds(t, "the first that cannot run", "stop: fatal_error: it is missing", the(ever, cannot))
	holds(t, "the second", "stop: fatal_error: it is missing", the(ever, broke, again(cannot, 2)))
	holds(t, "failures without a limit", "iterate: 3 on US-001", the(ever, broke, again(broke, 2)))
	holds(t, "one failure of one", "stop: fatal_error: the agent failed 1 times in a row: it broke", the(one, broke))
	holds(t, "one failure of two", "iterate: 2 on US-001", the(two, broke))
	holds(t, "two failures, not in a row", "iterate: 4 on US-001", the(two, broke, again(fine, 2), again(broke, 3)))
}

func TestARunStallsOnTheSameTreeAndTheSameResult(t *testing.T) {
	began := limited(func(l *policy.Limits) { l.Stall = 2 })
	like := func(number int, change func(*pass)) pass {
		p := pass{number: number, story: "US-001", work: "w", to: "b0", check: journal.CheckEnded{Exit: 1, Digest: "d"}}
		change(&p)
		return p
	}
	same := func(*pass) {}
	const stalled = "stop: stalled: 2 iterations in a row left the same tree and the same result"
	digest := func(p *pass) { p.check.Digest = "e" }
	unseen := func(p *pass) { p.work = "" }
	unseenDigest := func(p *pass) { p.work, p.check.Digest = "", "e" }
	untaken := func(p *pass) { p.untaken = true }
	for _, c := range []struct {
		why    string
		passes []pass
		want   string
	}{
		{"the same", []pass{like(1, same), like(2, same)}, stalled},
		{"another output of the same tree", []pass{like(1, same), like(2, digest)}, stalled},
		{"another exit code", []pass{like(1, same), like(2, func(p *pass) { p.check.Exit = 2 })}, "iterate: 3 on US-001"},
		{"another tree", []pass{like(1, same), like(2, func(p *pass) { p.work = "x" })}, "iterate: 3 on US-001"},
		{"another story", []pass{like(1, func(p *pass) { p.story = "US-002" }), like(2, same)}, "iterate: 3 on US-001"},
		{"no tree to compare", []pass{like(1, unseen), like(2, unseen)}, stalled},
		{"no tree to compare, another output", []pass{like(1, unseen), like(2, unseenDigest)}, "iterate: 3 on US-001"},
		{"nothing was handed over", []pass{like(1, untaken), like(2, untaken)}, stalled},
	} {
		holds(t, c.why, c.want, the(began, c.passes...))
	}
	once := limited(func(l *policy.Limits) { l.Stall = 1 })
	passed := like(1, func(p *pass) { p.stories = []string{"US-001"} })
	holds(t, "a story that passes is no stall", "iterate: 2 on US-002", the(once, passed))
}

func TestOnlyWorkBearsAClaimOut(t *testing.T) {
	claim := func(p pass) []journal.Event {
		p.undecided, p.agent.Promises, p.check.Passed = true, []string{"DONE"}, true
		return p.events()
	}
	seen := func(b *journal.RunBegan) { b.Work = "w0" }
	tag := func(change func(*journal.RunBegan)) journal.RunBegan {
		began := beginsWith(policy.ByTag, nil)
		change(&began)
		return began
	}
	before := func(work string) []journal.Event {
		return pass{work: work, to: "b0", agent: journal.AgentEnded{Tools: 1}}.events()
	}
	const (
		done = "judge: 1 on the prompt: green true, worked true, passed [], done"
		idle = "judge: 1 on the prompt: green true, worked false, passed []\nrejected DONE: no work was done: no tool was called and nothing changed"
	)
	for _, c := range []struct {
		why   string
		began journal.RunBegan
		pass  pass
		want  string
	}{
		{"a tool", tag(seen), pass{work: "w0", to: "b0", agent: journal.AgentEnded{Tools: 2, Chores: 1}}, done},
		{"chores alone", tag(seen), pass{work: "w0", to: "b0", agent: journal.AgentEnded{Tools: 1, Chores: 1}}, idle},
		{"another tree than the run found", tag(seen), pass{work: "w1", to: "b0"}, done},
		{"the tree that the run found", tag(seen), pass{work: "w0", to: "c1"}, idle},
		{"a commit, without an earlier look", beginsWith(policy.ByTag, nil), pass{work: "w", to: "c1"}, done},
		{"no commit, without an earlier look", beginsWith(policy.ByTag, nil), pass{work: "w", to: "b0"}, idle},
		{"no repository, without an earlier look", beginsWith(policy.ByTag, nil), pass{work: "w"}, idle},
		{"the same of an agent that cannot be seen", beginsWith(policy.ByTag, nil), pass{work: "w", agent: journal.AgentEnded{Blind: true}}, done},
		{"no tree", tag(seen), pass{}, idle},
		{"no tree, of an agent that cannot be seen", tag(seen), pass{agent: journal.AgentEnded{Blind: true}}, done},
	} {
		holds(t, c.why, c.want, after(append([]journal.Event{c.began}, claim(c.pass)...)...))
	}
	const doneNext, idleNext = "judge: 2 on the prompt: green true, worked true, passed [], done",
		"judge: 2 on the prompt: green true, worked false, passed []\nrejected DONE: no work was done: no tool was called and nothing changed"
	for _, c := range []struct {
		why, work string
		before    []journal.Event
		want      string
	}{
		{"the tree of the pass before", "w1", before("w1"), idleNext},
		{"the tree of before that pass", "w0", before("w1"), doneNext},
		{"a pass that handed nothing over", "w0", pass{untaken: true}.events(), idleNext},
	} {
		events := slices.Concat([]journal.Event{tag(seen)}, c.before, claim(pass{number: 2, work: c.work, to: "b0"}))
		holds(t, c.why, c.want, after(events...))
	}
	dirty := slices.Concat([]journal.Event{beginsWith(policy.ByTag, nil)}, claim(pass{work: "w", to: "b0"}))
	dirty[len(dirty)-1] = journal.CommitsTaken{From: "b0", To: "b0", Work: "w", Dirty: true}
	holds(t, "uncommitted, without an earlier look", done, after(dirty...))
}

func TestWhyAClaimIsNotBelieved(t *testing.T) {
	three := func(b *journal.RunBegan) {
		b.Policy.Promise = "COMPLETE"
		b.Policy.Checks = []policy.Check{{Name: "test"}, {Name: "lint"}, {Name: "old"}}
		b.Plan.UserStories = append(b.Plan.UserStories, plan.Story{ID: "US-003"})
	}
	red := func(name string) journal.Event { return journal.CheckEnded{Where: journal.AtWork, Name: name} }
	events := []journal.Event{
		of(three),
		journal.CheckEnded{Where: journal.AtBase, Name: "old"},
		journal.BaselineEnded{Usable: true},
		journal.IterationBegan{Number: 1, Story: "US-001"},
		journal.AgentEnded{Tools: 1, Promises: []string{"COMPLETE"}},
		journal.PlanRead{Plan: of(three).Plan, Claimed: []string{"US-001"}},
		red("test"), red("lint"), red("old"),
		journal.CommitsTaken{From: "b0", To: "b0", Work: "w"},
	}
	holds(t, "by the checks that hold it back, and no other", "judge: 1 on US-001: green false, worked true, passed []"+
		"\nrejected US-001: checks failed: test, lint"+
		"\nrejected <promise>COMPLETE</promise>: still open: US-001, US-002, US-003", after(events...))

	worded := []journal.Event{
		beginsWith(policy.ByTag, func(p *policy.Policy) { p.Checks = []policy.Check{{Name: "test"}, {Name: "lint"}} }),
		journal.IterationBegan{Number: 1},
		journal.AgentEnded{Tools: 1, Promises: []string{"DONE"}},
		red("test"), red("lint"),
		journal.CommitsTaken{},
	}
	holds(t, "every red check is named", "judge: 1 on the prompt: green false, worked true, passed []\nrejected DONE: checks failed: test, lint", after(worded...))
	failed := pass{undecided: true, agent: journal.AgentEnded{Tools: 1, Failed: true, Why: "exit code 1", Promises: []string{"DONE"}}, check: journal.CheckEnded{Passed: true}}
	holds(t, "an agent that failed", "judge: 1 on the prompt: green true, worked true, passed []\nrejected DONE: the agent itself failed: exit code 1",
		the(beginsWith(policy.ByTag, nil), failed))
}

func TestASessionGoesByItsNumbers(t *testing.T) {
	began := func(limit, tools, most int) journal.RunBegan {
		return beginsWith(policy.ByPromise, func(p *policy.Policy) {
			p.Limits.Iterations, p.Session = limit, policy.SessionRules{MinTools: tools, Cap: most}
		})
	}
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
		{"one call where none is asked for", began(2, 0, 0), said(1), "judge: 0 on the prompt: green true, worked true, passed [], done"},
		{"sent back as often as it may be", began(2, 1, 0), idle(2), "iterate: 2 on the prompt"},
		{"and once more", began(2, 1, 0), idle(3), "stop: max_iterations: MAX_ITERATIONS_REACHED: sent back to work 2 times"},
		{"sent back without a limit", began(0, 1, 0), idle(9), "iterate: 9 on the prompt"},
		{"refused as often as it lets itself be", began(9, 1, 1), idle(1), "iterate: 1 on the prompt"},
		{"and once more", began(9, 1, 1), idle(2), "stop: waiting: the agent's program allows at most 1 refused stops in a row without a tool call"},
		{"cut off within its third pass", began(9, 1, 0), append(idle(2), journal.IterationBegan{Number: 2}), "iterate: 2 on the prompt"},
	} {
		holds(t, c.why, c.want, after(append([]journal.Event{c.began}, c.then...)...))
	}
}

func TestAnAttemptIsJudgedByItsExitAndTheFolder(t *testing.T) {
	began := beginsWith(policy.ByFile, func(p *policy.Policy) { p.Supervision.Delay = policy.Duration(2 * time.Second) })
	attempt := func(agent journal.AgentEnded) []journal.Event {
		return []journal.Event{began, journal.TaskLooked{}, journal.IterationBegan{Number: 1}, agent, journal.TaskLooked{}}
	}
	holds(t, "it ended well, and is not done", "judge: 1 on the prompt: green true, worked true, passed []", after(attempt(journal.AgentEnded{})...))
	holds(t, "it failed", "judge: 1 on the prompt: green false, worked true, passed []", after(attempt(journal.AgentEnded{Exit: 1, Failed: true})...))
	holds(t, "the next comes after the delay", "pause: 2s", after(append(attempt(journal.AgentEnded{}), journal.IterationEnded{Number: 1})...))
}

func TestAnAgentThatWasTurnedAwayWaits(t *testing.T) {
	turned := func(times int, limit time.Duration, until time.Time) journal.Run {
		began := limited(func(l *policy.Limits) { l.Run = policy.Duration(limit) })
		run := after(began)
		run = journal.Fold(run, journal.Entry{At: run.Began, Event: journal.IterationBegan{Number: 1, Story: "US-001"}})
		for range times {
			run = journal.Fold(run, journal.Entry{At: run.Began, Event: journal.AgentEnded{Busy: true, Failed: true, Why: "busy", Until: until}})
		}
		return journal.Fold(run, journal.Entry{At: run.Began, Event: journal.CommitsTaken{Work: "w"}})
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	holds(t, "longer each time", "pause: 8m0s: busy", turned(5, 0, time.Time{}))
	holds(t, "but not for ever", "pause: 15m0s: busy", turned(7, 0, time.Time{}))
	holds(t, "for the last time", "pause: 15m0s: busy", turned(20, 0, time.Time{}))
	holds(t, "no more", "stop: waiting: the model did not answer, 21 times in a row: busy", turned(21, 0, time.Time{}))
	holds(t, "until a whole second behind what was said", "pause: 1m31s: busy", turned(1, 0, noon.Add(90*time.Second+400*time.Millisecond)))
	holds(t, "while there is time left", "pause: 30s: busy", turned(1, 31*time.Second, time.Time{}))
	holds(t, "not when all of it were gone", "stop: waiting: the model takes requests again in 30s, and the run's time ends before: busy",
		turned(1, 30*time.Second, time.Time{}))
}
