package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/hub/ledger"
)

// paper is a ledger in memory. The answer to each change is lost, so that it is made twice.
type paper struct{ book quota.Book }

func (p *paper) Change(_ context.Context, change func(quota.Book) (quota.Book, error)) error {
	for range 2 {
		next, err := change(p.book)
		if err != nil {
			return err
		}
		p.book = next
	}
	return nil
}

// entry is that of a job which may spend 5 dollars.
func entry(on *paper, job int64) *ledger.Entry {
	return &ledger.Entry{
		Change: on.Change, Now: clock, Began: noon, Entry: quota.Entry{Job: job, Run: "pull-9", Held: 5, Until: noon.Add(time.Hour)},
		Ended: func(_ context.Context, job int64) (bool, error) { return job == 1, nil },
	}
}

// A job that is over makes room for another, and one of which GitHub knows nothing does not. What GitHub does not
// answer is an error, and enters nothing.
func TestJobsThatWereKilledMakeRoom(t *testing.T) {
	wrong := errors.New("GitHub is away")
	for name, c := range map[string]struct {
		other int64
		wrong error
		full  bool
	}{
		"a job that is over": {other: 1},
		"a job at work":      {other: 2, full: true},
		"no answer":          {other: 1, wrong: wrong},
	} {
		on := &paper{}
		if refusal, err := entry(on, c.other).Admit(t.Context(), quota.Limits{Runs: 1}, nil); refusal != nil || err != nil {
			t.Fatalf("%s: %v, %v", name, refusal, err)
		}
		next := entry(on, 9)
		if c.wrong != nil {
			next.Ended = func(context.Context, int64) (bool, error) { return false, c.wrong }
		}
		refusal, err := next.Admit(t.Context(), quota.Limits{Runs: 1}, nil)
		if (refusal != nil) != c.full || !errors.Is(err, c.wrong) || (err != nil && len(on.book.Entries) != 1) {
			t.Errorf("%s: Admit = %v, %v with %+v, want full = %t", name, refusal, err, on.book.Entries, c.full)
		}
	}
}

// work returns a run on pull request 9 that cost so much.
func work(usd float64, known bool) journal.Run {
	run := journal.Run{
		ID: "pull-9", Branch: "ralph/issue-7", Published: journal.Published{Pull: &journal.PullOpened{Number: 9}}, Policy: policy.Policy{Agent: "claude"}, Spent: journal.Spent{CostUSD: usd, CostKnown: known}, Stop: &journal.RunStopped{},
		BaseChecks: []journal.CheckEnded{{}},
		Iterations: []journal.Iteration{{Began: noon, Last: noon.Add(3 * time.Minute), Checks: []journal.CheckEnded{{}}}, {Began: noon, Last: noon.Add(time.Minute)}},
		Proofs:     []journal.Proof{{Checks: journal.Runs{Head: []journal.CheckEnded{{}}}}, {Reused: true, Checks: journal.Runs{Head: []journal.CheckEnded{{}}}}},
	}
	run.Task.Number = 7
	return run
}

// What a run came to stands in the ledger when its job ends: what it does not know is null.
func TestWhatARunCameTo(t *testing.T) {
	before := quota.PullRun{ID: "pull-9", Agent: "claude", USD: new(1.0), Minutes: 8}
	for name, c := range map[string]struct {
		leaves journal.Run
		want   quota.PullRun
	}{
		"a run that went on": {work(2, true), quota.PullRun{ID: "pull-9", Agent: "claude", USD: new(2.0), Minutes: 4}},
		"an unknown cost":    {work(2, false), quota.PullRun{ID: "pull-9", Agent: "claude", Minutes: 4}},
		"no run began in it": {journal.Run{}, before},
	} {
		on := &paper{book: quota.Book{}.Worked(quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: noon}, before, noon)}
		e := entry(on, 1)
		if refusal, err := e.Admit(t.Context(), quota.Limits{}, nil); refusal != nil || err != nil {
			t.Fatalf("%s: %v, %v", name, refusal, err)
		}
		if err := e.Leave(t.Context(), c.leaves); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]quota.PullRun{c.want}, on.book.Pulls[0].Runs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A job is charged what it spent: what the run had cost before is another job's, and
// where tokens have no price, or the run has no end, it is what the job held.
func TestWhatAJobSpent(t *testing.T) {
	broken := work(2, true)
	broken.Stop = nil
	tokens := work(1, false)
	tokens.Spent.Usage.Input = 10
	for name, c := range map[string]struct {
		old, run journal.Run
		want     float64
	}{
		"a new run":                {run: work(2, true), want: 2},
		"a run that went on":       {old: work(1.5, true), run: work(2, true), want: 0.5},
		"tokens without a price":   {run: tokens, want: 5},
		"a run without an end":     {run: broken, want: 5},
		"no tokens, nor a price":   {run: work(0, false), want: 0},
		"less than it had cost":    {old: work(3, true), run: work(2, true), want: 0},
		"nothing began":            {want: 0},
		"more than the job's hold": {run: func() journal.Run { r := tokens; r.Spent.CostUSD = 7; return r }(), want: 7},
	} {
		on := &paper{}
		e := entry(on, 1)
		e.Old = c.old
		if _, err := e.Admit(t.Context(), quota.Limits{}, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.Leave(t.Context(), c.run); err != nil {
			t.Fatal(err)
		}
		if got := on.book.Entries[0].Spent; got == nil || *got != c.want {
			t.Errorf("%s: spent %v, want %v", name, got, c.want)
		}
	}
}
