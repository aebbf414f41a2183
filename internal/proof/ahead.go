package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Ahead runs all old tests on the new code at the same time as the proof of that code, as
// both take as long as the suite. Inspect, which would run them next, takes the result. A
// proof that fails, or that runs again, ends it.
type Ahead struct {
	// Beside returns a prover with its own checkouts, or false if only one can exist at a time.
	Beside func() (Prover, bool)

	place  string // key of what runs or ran; may be empty
	cancel context.CancelFunc
	ended  chan struct{}
	seen   outcome
	events []journal.Event
	err    error
}

var errProbed = errors.New("found what would run")

// ahead starts what Inspect would run first if the proof passes with the results of the
// base. A run of selected tests is short, and not worth a checkout of its own.
func (p Prover) ahead(ctx context.Context, run journal.Run, step verdict.Prove) {
	if p.Ahead == nil {
		return
	}
	p.Ahead.drop()
	at, found := p.firstOfInspect(ctx, run, step)
	if !found || !slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return at.wants(check.Name) && at.Commands[check.Name] == "" }) {
		return
	}
	beside, is := p.Ahead.Beside()
	if !is {
		return
	}
	beside.Ahead = nil
	p.Ahead.start(ctx, at.key(run), func(ctx context.Context, emit func(journal.Event)) (outcome, error) {
		return beside.runOnce(ctx, run, at, emit)
	})
}

// firstOfInspect returns the place where Inspect would run checks first.
func (p Prover) firstOfInspect(ctx context.Context, run journal.Run, step verdict.Prove) (at Place, found bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run.Loose = run.BaseChecks
	run = journal.Fold(run, journal.Entry{Seq: run.Seq, At: run.Now, Event: journal.ProofEnded{Commit: step.Commit, Tree: step.Tree, Passed: true}})
	p.Ahead, p.probe = nil, func(sought Place) error {
		at, found = sought, true
		cancel()
		return errProbed
	}
	_ = p.Inspect(ctx, run, verdict.Inspect(step), func(journal.Event) {}) // its errors will occur again
	return at, found
}

func (a *Ahead) start(ctx context.Context, place string, do func(context.Context, func(journal.Event)) (outcome, error)) {
	ctx, a.cancel = context.WithCancel(ctx)
	a.place, a.ended = place, make(chan struct{})
	go func() {
		defer close(a.ended)
		a.seen, a.err = do(ctx, func(event journal.Event) { a.events = append(a.events, event) })
	}()
}

// wait waits for the run to end.
func (a *Ahead) wait() {
	if a != nil && a.place != "" {
		<-a.ended
		a.cancel()
	}
}

// drop ends the run and forgets it.
func (a *Ahead) drop() {
	if a == nil || a.place == "" {
		return
	}
	a.cancel()
	<-a.ended
	*a = Ahead{Beside: a.Beside}
}

// take returns the result for a place, once.
func (a *Ahead) take(run journal.Run, at Place, emit func(journal.Event)) (outcome, bool) {
	if a == nil || a.place == "" || a.place != at.key(run) {
		return outcome{}, false
	}
	a.wait()
	seen, events, err := a.seen, a.events, a.err
	a.drop()
	if err != nil {
		return outcome{}, false
	}
	replay(events, emit)
	return seen, true
}

func (at Place) wants(check string) bool { return at.Only == nil || at.Only(check) }

// key identifies what runs at a place.
func (at Place) key(run journal.Run) string {
	var commands []string
	for _, check := range run.Policy.Checks {
		if at.wants(check.Name) {
			commands = append(commands, check.Name, cmp.Or(at.Commands[check.Name], check.Command))
		}
	}
	return fmt.Sprintf("%s %d %t %s %s %q", at.Where, at.Number, at.Second, at.Commit, at.Stand, strings.Join(commands, "\x00"))
}
