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
		if w.run.Stop.Reason == policy.DoneFile && !w.run.Looked.Done {
			t.Errorf("seed %d: complete with %+v", seed, w.run.Looked)
		}
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
