package verdict_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Every session loop ends. It accepts a promise only from the last iteration, after work.
func TestEverySessionEndsHonestly(t *testing.T) {
	for seed := range uint64(2000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 13))}
		p := policy.ForPreset(policy.ByPromise)
		p.Limits.Iterations, p.Session.MinTools, p.Session.Cap = 1+w.IntN(6), w.IntN(3), w.IntN(4)
		w.append(journal.RunBegan{Run: "s", Policy: p})
		tools := 0
		for steps := 0; w.run.Stop == nil; steps++ {
			if steps > 100 {
				t.Fatalf("seed %d: still going, next %T", seed, verdict.Next(w.run))
			}
			if begin, is := verdict.Next(w.run).(verdict.Iterate); is {
				tools += w.runSession(begin)
			} else if !w.do(verdict.Next(w.run)) {
				t.Fatalf("seed %d: rests without an end", seed)
			}
			if w.chance(1) {
				w.append(journal.CancelAsked{Why: "/cancel-ralph"})
			}
		}
		last, _ := w.run.LastJudged()
		if w.run.Stop.Reason == policy.PromiseAccepted && (len(last.Agent.Promises) == 0 || tools < p.Session.MinTools) {
			t.Errorf("seed %d: kept with %v after %d tools", seed, last.Agent.Promises, tools)
		}
		if n := len(w.run.Iterations); n > p.Limits.Iterations+1 {
			t.Errorf("seed %d: %d iterations, %d may follow the first", seed, n, p.Limits.Iterations)
		}
	}
}

// runSession adds an iteration of a session and returns its number of tool calls.
func (w *world) runSession(s verdict.Iterate) int {
	ended := journal.AgentEnded{Tools: w.IntN(3), Fresh: w.chance(10)}
	if w.chance(30) {
		ended.Promises = []string{"DONE"}
	}
	w.append(journal.IterationBegan{Number: s.Number})
	w.append(ended)
	return ended.Tools
}
