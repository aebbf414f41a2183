package verdict_test

import (
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

func (w *world) supervised() journal.RunBegan {
	p := policy.ForPreset(policy.ByFile)
	p.Limits.Iterations = w.IntN(6)
	return journal.RunBegan{Run: "s", Policy: p}
}

// looked returns a random state of the task folder.
func (w *world) looked() journal.TaskLooked {
	var looked journal.TaskLooked
	switch at := w.IntN(100); {
	case at < 10:
		looked.Done = true
	case at < 15:
		looked.Wait = "file"
	case at < 18:
		looked.Done, looked.Wait = true, "message"
	case at < 19:
		looked.Broken = "DONE is a directory"
	}
	return looked
}

// start adds an attempt with a random end.
func (w *world) start(s verdict.Iterate) {
	w.append(journal.IterationBegan{Number: s.Number})
	if w.chance(5) {
		w.append(journal.Resumed{Why: "killed"})
		return
	}
	codes := []int{0, 0, 1, 1, 42, 137}
	exit := codes[w.IntN(len(codes))]
	w.append(journal.AgentEnded{
		Exit: exit, Failed: exit != 0 && exit != 42, TimedOut: w.chance(10), CannotRun: w.chance(2),
	})
}

// Every supervised run ends. It is complete only with a DONE file. It never starts
// the command after that, after a request to wait, or more often than its limit.
func TestEverySupervisedRunEndsHonestly(t *testing.T) {
	for seed := range uint64(3000) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 11))}
		w.append(w.supervised())
		for steps := 0; ; steps++ {
			step := verdict.Next(w.run)
			if begin, is := step.(verdict.Iterate); is {
				checkStart(t, seed, w.run)
				w.start(begin)
			} else if !w.do(step) {
				break
			}
			if steps > 5000 {
				t.Fatalf("seed %d: still going after %d steps, next %T", seed, steps, step)
			}
			if w.run.Stop == nil && w.chance(1) {
				w.append(journal.CancelAsked{Why: "SIGINT"})
			}
		}
		checkEnd(t, seed, w.run)
	}
}

// checkStart checks that an attempt may begin.
func checkStart(t *testing.T, seed uint64, run journal.Run) {
	t.Helper()
	limit, n := run.Policy.Limits.Iterations, len(run.Iterations)
	_, cutOff := run.OpenIteration()
	switch {
	case run.Looked == nil || run.Looked.Done || run.Looked.Broken != "":
		t.Errorf("seed %d: started on a folder that says %+v", seed, run.Looked)
	case cutOff:
	case limit > 0 && run.UsedIterations() >= limit:
		t.Errorf("seed %d: started for time %d of %d", seed, run.UsedIterations()+1, limit)
	case run.UsedIterations() > 0 && !run.Iterations[n-1].Paused:
		t.Errorf("seed %d: started without a delay", seed)
	case run.UsedIterations() > 0 && (run.Looked.Wait != "" || run.Iterations[n-1].Agent.CannotRun):
		t.Errorf("seed %d: started although it had to wait or cannot run", seed)
	}
}

// allowedEnds reports, for each reason to stop, whether the run's state allows it.
var allowedEnds = map[policy.Reason]func(journal.Run, journal.TaskLooked, journal.Iteration) bool{
	policy.DoneFile: func(run journal.Run, looked journal.TaskLooked, _ journal.Iteration) bool {
		return looked.Done && run.Settled != nil
	},
	policy.Waiting: func(run journal.Run, looked journal.TaskLooked, last journal.Iteration) bool {
		return !looked.Done && run.Settled != nil && (looked.Wait != "" || last.Agent.Exit == verdict.WaitExitCode)
	},
	policy.MaxIterations: func(run journal.Run, looked journal.TaskLooked, _ journal.Iteration) bool {
		return !looked.Done && run.Settled != nil && run.UsedIterations() == run.Policy.Limits.Iterations
	},
	policy.FatalError: func(_ journal.Run, looked journal.TaskLooked, last journal.Iteration) bool {
		return looked.Broken != "" || last.Agent != nil && last.Agent.CannotRun
	},
	policy.Cancelled: func(run journal.Run, _ journal.TaskLooked, _ journal.Iteration) bool {
		return run.Cancel != nil
	},
}

// checkEnd checks that the run stopped for an allowed reason.
func checkEnd(t *testing.T, seed uint64, run journal.Run) {
	t.Helper()
	var looked journal.TaskLooked
	if run.Looked != nil {
		looked = *run.Looked
	}
	last, _ := run.LastJudged()
	is, known := allowedEnds[run.Stop.Reason]
	if !known || !is(run, looked, last) || run.Settled != nil && run.Cancel == nil && run.Settled.Reason != run.Stop.Reason {
		t.Errorf("seed %d: stopped with %+v, looked %+v, settled %+v", seed, run.Stop, looked, run.Settled)
	}
}
