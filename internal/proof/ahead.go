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

// Ahead has all old tests run on the new code while the proof of that code runs, as both
// take as long as the suite. Inspect would run them next: it takes what ran ahead where
// that is what it asks for. A proof that fails, or is about to run again, ends it.
type Ahead struct {
	// Beside is a prover with checkouts of its own; false: there can be only one at a time.
	Beside func(ctx context.Context) (Prover, bool)

	place  string // what runs, or ran; empty: nothing
	cancel context.CancelFunc
	ended  chan struct{}
	seen   sight
	events []journal.Event
	err    error
}

var errSought = errors.New("found what would run")

// ahead starts what Inspect runs first if the proof of a commit passes, and ends as the
// base did. Runs of few tests are short, and so are not worth a checkout of their own.
func (p Prover) ahead(ctx context.Context, run journal.Run, step verdict.Prove) {
	if p.Ahead == nil {
		return
	}
	p.Ahead.drop()
	at, found := p.first(ctx, run, step)
	if !found || !slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return at.wants(check.Name) && at.Commands[check.Name] == "" }) {
		return
	}
	beside, is := p.Ahead.Beside(ctx)
	if !is {
		return
	}
	beside.Ahead = nil
	p.Ahead.start(ctx, at.title(run), func(ctx context.Context, emit func(journal.Event)) (sight, error) {
		return beside.once(ctx, run, at, emit)
	})
}

// first is where Inspect would run checks first.
func (p Prover) first(ctx context.Context, run journal.Run, step verdict.Prove) (at Place, found bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run.Loose = run.BaseChecks
	run = journal.Fold(run, journal.Entry{Seq: run.Seq, At: run.Now, Event: journal.ProofEnded{Commit: step.Commit, Tree: step.Tree, Passed: true}})
	p.Ahead, p.seek = nil, func(sought Place) error {
		at, found = sought, true
		cancel()
		return errSought
	}
	_ = p.Inspect(ctx, run, verdict.Inspect(step), func(journal.Event) {}) // its errors come again
	return at, found
}

func (a *Ahead) start(ctx context.Context, place string, do func(context.Context, func(journal.Event)) (sight, error)) {
	ctx, a.cancel = context.WithCancel(ctx)
	a.place, a.ended = place, make(chan struct{})
	go func() {
		defer close(a.ended)
		a.seen, a.err = do(ctx, func(event journal.Event) { a.events = append(a.events, event) })
	}()
}

// wait waits for what runs.
func (a *Ahead) wait() {
	if a != nil && a.place != "" {
		<-a.ended
		a.cancel()
	}
}

// drop ends what runs, and forgets it.
func (a *Ahead) drop() {
	if a == nil || a.place == "" {
		return
	}
	a.cancel()
	<-a.ended
	*a = Ahead{Beside: a.Beside}
}

// take is what ran ahead at a place, once.
func (a *Ahead) take(run journal.Run, at Place, emit func(journal.Event)) (sight, bool) {
	if a == nil || a.place == "" || a.place != at.title(run) {
		return sight{}, false
	}
	a.wait()
	seen, events, err := a.seen, a.events, a.err
	a.drop()
	if err != nil {
		return sight{}, false
	}
	for _, event := range events {
		emit(event)
	}
	return seen, true
}

func (at Place) wants(check string) bool { return at.Only == nil || at.Only(check) }

// title tells what runs at a place from all else.
func (at Place) title(run journal.Run) string {
	var commands []string
	for _, check := range run.Policy.Checks {
		if at.wants(check.Name) {
			commands = append(commands, check.Name, cmp.Or(at.Commands[check.Name], check.Command))
		}
	}
	return fmt.Sprintf("%s %d %t %s %s %q", at.Where, at.Number, at.Second, at.Commit, at.Stand, strings.Join(commands, "\x00"))
}
