package proof_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// pair runs a proof and, in a prover of its own, the old tests on the new code.
type pair struct {
	t       *testing.T
	began   map[string]chan struct{} // by the place where checks begin
	command string
	here    journal.CheckEnded                                        // what the check says in the proof
	then    journal.CheckEnded                                        // the second time
	old     func(context.Context) (ended journal.CheckEnded, _ error) // of old tests that run beside

	mu  sync.Mutex
	ran []string
}

func (p *pair) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran = append(p.ran, what)
}

// begin waits until checks begin at another place, too.
func (p *pair) begin(here, there string) {
	close(p.began[here])
	select {
	case <-p.began[there]:
	case <-time.After(time.Minute):
		p.t.Errorf("%s runs, and %s does not begin", here, there)
	}
}

func (p *pair) lend(where string) func(context.Context, journal.Run, string) (string, func(), error) {
	return func(_ context.Context, _ journal.Run, commit string) (string, func(), error) {
		p.note("lend " + where + " " + commit)
		return "clean", func() { p.note("back " + where + " " + commit) }, nil
	}
}

func (p *pair) prover(differing ...proof.Differing) (proof.Prover, journal.Run) {
	p.began = map[string]chan struct{}{"proof": make(chan struct{}), "old": make(chan struct{})}
	tests := byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, map[string]string{}}
	main := (&lab{}).prover()
	main.Tests, main.Changes = tests, tests
	main.Stand = func(_ context.Context, _ journal.Run, commit string, _ proof.Standing) (string, error) {
		return commit + "+", nil
	}
	main.Checkout = p.lend("here")
	main.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
		ended := p.here
		switch {
		case at.Second:
			ended = p.then
		case at.Where == journal.AtProof && p.old != nil:
			p.begin("proof", "old")
		}
		ended.Where = at.Where
		emit(ended)
		return nil
	}
	beside := proof.Prover{
		Checkout: p.lend("beside"),
		Check: func(ctx context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			p.begin("old", "proof")
			ended, err := p.old(ctx)
			if err == nil {
				ended.Where = at.Where
				emit(ended)
			}
			return err
		},
	}
	main.Ahead = &proof.Ahead{Beside: func() (proof.Prover, bool) {
		p.note("beside")
		return beside, p.old != nil
	}}
	base := told("go", 1)
	base.Command = p.command
	run := asked(base)
	run.Policy.Checks[0].Command = p.command
	return main, run
}

// prove proves c1 and inspects it, as far as it passes.
func (p *pair) prove(differing ...proof.Differing) (inspected journal.ChangeInspected) {
	p.t.Helper()
	prover, run := p.prover(differing...)
	emit := func(event journal.Event) {
		run = journal.Fold(run, journal.Entry{Seq: run.Seq + 1, Event: event})
	}
	if err := prover.Prove(p.t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, emit); err != nil {
		p.t.Fatal(err)
	}
	p.note("proven")
	if err := prover.Inspect(p.t.Context(), run, verdict.Inspect{Commit: "c1", Tree: "t1"}, emit); err != nil {
		p.t.Fatal(err)
	}
	inspected, _ = run.InspectionOf("t1")
	return inspected
}

// sorted returns what ran until the proof ended, in any order, and what ran after it.
func (p *pair) sorted() (during, after []string) {
	at := slices.Index(p.ran, "proven")
	during, after = p.ran[:at], p.ran[at+1:]
	slices.Sort(during)
	return during, after
}

var (
	newTest = proof.Differing{Path: "test_ten.py", Tests: true}
	script  = "sh check.sh"
)

// All old tests run on the new code while its proof runs, and tell the inspection the same.
func TestOldTestsRunBesideTheProof(t *testing.T) {
	for name, old := range map[string]journal.CheckEnded{"they pass": told("go", 1), "they fail": failing([]string{"p.TestA"})} {
		p := &pair{t: t, command: script, here: told("go", 2), old: func(context.Context) (journal.CheckEnded, error) { return old, nil }}
		p.then = old // what fails runs once more, alone
		inspected := p.prove(newTest)
		during, after := p.sorted()
		if diff := cmp.Diff([]string{"back beside c1+", "back here c1", "beside", "lend beside c1+", "lend here c1"}, during); diff != "" {
			t.Errorf("%s: during the proof (-want +got):\n%s", name, diff)
		}
		if again := slices.Contains(after, "lend here c1+"); again == old.Passed || inspected.Runs == 0 || len(inspected.Found) > 0 == old.Passed {
			t.Errorf("%s: then %q, found %v in %d runs", name, after, inspected.Found, inspected.Runs)
		}
	}
}

// A check that fails in the proof runs again, alone: what runs beside is ended first.
func TestWhatRunsBesideEndsBeforeAnotherTry(t *testing.T) {
	p := &pair{t: t, command: script, here: red("test", 1), then: red("test", 1)}
	p.old = func(ctx context.Context) (journal.CheckEnded, error) {
		<-ctx.Done()
		return journal.CheckEnded{}, ctx.Err()
	}
	if inspected := p.prove(newTest); inspected.Runs != 0 {
		t.Errorf("%d runs of old tests on code that fails", inspected.Runs)
	}
	if back := slices.Index(p.ran, "back beside c1+"); back < 0 || back > len(p.ran)-3 || p.ran[len(p.ran)-3] != "lend here c1" {
		t.Errorf("ran %q", p.ran)
	}
}

// What could not run beside runs afterwards.
func TestWhatCouldNotRunBesideRunsAfterwards(t *testing.T) {
	p := &pair{t: t, command: script, here: told("go", 2)}
	p.old = func(context.Context) (journal.CheckEnded, error) { return journal.CheckEnded{}, errors.New("no room") }
	inspected := p.prove(newTest)
	if _, after := p.sorted(); inspected.Runs != 1 || inspected.Why != "" || !slices.Contains(after, "lend here c1+") {
		t.Errorf("then ran %q in %d runs: %s", after, inspected.Runs, inspected.Why)
	}
}

// Nothing runs beside a proof where old tests need not run, or few do.
func TestNothingRunsBesideAProofForLittle(t *testing.T) {
	for name, c := range map[string]struct {
		command   string
		differing []proof.Differing
		asked     []string
		after     int
	}{
		"no test is touched": {script, nil, nil, 0},
		"few tests run":      {"go test ./...", []proof.Differing{{Path: "p/a_test.go", Tests: true, Was: true}}, nil, 2},
		"there is no room":   {script, []proof.Differing{newTest}, []string{"beside"}, 2},
	} {
		p := &pair{t: t, command: c.command, here: told("go", 1)}
		p.prove(c.differing...)
		during, after := p.sorted()
		if !slices.Equal(during, slices.Concat([]string{"back here c1"}, c.asked, []string{"lend here c1"})) || len(after) != c.after {
			t.Errorf("%s: ran %q, then %q", name, during, after)
		}
	}
}
