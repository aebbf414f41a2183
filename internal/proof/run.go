package proof

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// outcome is the result of a run of checks.
type outcome struct {
	unready string // why setup failed, if it did
	checks  []journal.CheckEnded
}

// run runs setup and checks in a checkout. A check that is repeated runs in a new
// checkout: a failure at each first run in a checkout is not chance.
func (p Prover) run(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) (outcome, error) {
	doubtful := func(e journal.CheckEnded) bool { return at.Again != nil && !e.CannotRun && at.Again(e) }
	waiting := false // events stay in the order of the checks
	seen, err := p.runOnce(ctx, run, at, func(event journal.Event) {
		if ended, is := event.(journal.CheckEnded); is {
			if waiting = waiting || doubtful(ended); waiting {
				return
			}
		}
		emit(event)
	})
	if err != nil || !waiting {
		return seen, err
	}
	p.Ahead.drop() // so that a run at the same time does not cause failures
	first := slices.IndexFunc(seen.checks, doubtful)
	if err = p.repeat(ctx, run, at, seen.checks[first:], doubtful); err != nil {
		return seen, err
	}
	for _, check := range seen.checks[first:] {
		emit(check)
	}
	return seen, nil
}

// add runs the checks of a place, if there are any, and adds their results.
func (p Prover) add(ctx context.Context, run journal.Run, at Place, to *outcome, emit func(journal.Event)) error {
	if !slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return at.Only(check.Name) }) {
		return nil
	}
	seen, err := p.run(ctx, run, at, emit)
	to.unready, to.checks = seen.unready, append(to.checks, seen.checks...)
	return err
}

// repeat runs doubtful checks once more. The second result counts, and both are
// recorded. If setup fails, the first results stay.
func (p Prover) repeat(ctx context.Context, run journal.Run, at Place, checks []journal.CheckEnded, doubtful func(journal.CheckEnded) bool) error {
	at.Second = true
	sure, err := p.repeatFailed(ctx, run, at, checks, doubtful)
	if err != nil {
		return err
	}
	left := func(c journal.CheckEnded) bool { return !sure[c.Name] && doubtful(c) }
	holds := at.Again
	at.Again, at.Only = nil, func(name string) bool {
		return slices.ContainsFunc(checks, func(c journal.CheckEnded) bool { return c.Name == name && left(c) })
	}
	ask := at.Ask
	at.Ask = func(name string) []string {
		first, _ := journal.FindCheck(checks, name)
		if ask == nil {
			return first.Tests.Failing()
		}
		return slices.Concat(ask(name), first.Tests.Failing())
	}
	var seen outcome
	if err := p.add(ctx, run, at, &seen, func(journal.Event) {}); err != nil {
		return err
	}
	for i, check := range checks {
		if second, found := journal.FindCheck(seen.checks, check.Name); found && left(check) {
			second.First = p.firstRun(check, second)
			second.Flaky = !holds(second)
			checks[i] = second
		}
	}
	return nil
}

// repeatFailed repeats only the files or packages of tests that newly failed. It returns the
// checks in which all of them fail again. For these the first run, of all tests, counts.
func (p Prover) repeatFailed(ctx context.Context, run journal.Run, at Place, checks []journal.CheckEnded, doubtful func(journal.CheckEnded) bool) (map[string]bool, error) {
	sure, fresh := map[string]bool{}, map[string][]string{}
	at.Commands = map[string]string{}
	for _, check := range checks {
		if !at.judges || !doubtful(check) || check.TimedOut || check.Tests == nil || check.Tests.Cut {
			continue
		}
		r, command, err := p.runner(ctx, run, check)
		if err != nil {
			return nil, err
		}
		old := verdict.FailedAtBase(run, check.Name)
		fresh[check.Name] = slices.DeleteFunc(check.Tests.Failing(), func(name string) bool { return slices.Contains(old, name) })
		at.Commands[check.Name] = r.commandFor(command, fresh[check.Name])
	}
	at.Again, at.Only = nil, func(name string) bool { return at.Commands[name] != "" }
	var seen outcome
	err := p.add(ctx, run, at, &seen, func(journal.Event) {})
	for i, check := range checks {
		second, ran := journal.FindCheck(seen.checks, check.Name)
		switch failing := second.Tests.Failing(); {
		case !ran:
		case slices.ContainsFunc(fresh[check.Name], func(name string) bool { return !slices.Contains(failing, name) }):
			checks[i].TookMS += second.TookMS // and all tests run again
		default:
			checks[i].First, sure[check.Name] = second.Try(), true
		}
	}
	return sure, err
}

// firstRun returns the record of a check's first run, with the results of the tests that
// failed in the second. In a script, tests after the first failure may not have run, so
// only a plain test runner's results are recorded.
func (p Prover) firstRun(check, second journal.CheckEnded) *journal.Try {
	first := check.Try()
	if first.Tests == nil || !plainRunner(check.Command) {
		return first
	}
	tests := *first.Tests
	told, _ := p.Tests.Told(check) // a test without a record has not passed
	tests.Asked = maps.Clone(tests.Asked)
	for _, name := range second.Tests.Failing() {
		if tests.Asked == nil {
			tests.Asked = map[string]tally.Outcome{}
		}
		tests.Asked[name] = told.Of(name)
	}
	first.Tests = &tests
	return first
}

// runOnce runs setup and checks once. Without checks setup does not run.
func (p Prover) runOnce(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) (outcome, error) {
	if p.probe != nil {
		return outcome{}, p.probe(at)
	}
	if seen, ran := p.Ahead.take(run, at, emit); ran {
		return seen, nil
	}
	dir, done, err := p.Checkout(ctx, run, cmp.Or(at.Bare, at.Stand, at.Commit))
	if err != nil {
		return outcome{}, err
	}
	defer done()
	wanted := at
	at.Dir, at.Only = dir, at.withPreparing(run)
	var seen outcome
	note := func(event journal.Event) {
		switch e := event.(type) { //nolint:gochecksumtype // checkouts have no other events
		case journal.SetupEnded:
			seen.unready = cmp.Or(seen.unready, e.Failure())
		case journal.CheckEnded:
			if !wanted.wants(e.Name) {
				return
			}
			seen.checks = append(seen.checks, e)
		}
		emit(event)
	}
	if len(run.Policy.Setup) > 0 && len(run.Policy.Checks) > 0 {
		err = p.Setup(ctx, run, at, note)
	}
	if err == nil && seen.unready == "" {
		err = p.Check(ctx, run, at, note)
	}
	return seen, err
}

// withPreparing returns which checks run: also those before that are no plain test runners, as a build may make what a test
// needs.
func (at Place) withPreparing(run journal.Run) func(check string) bool {
	if at.Only == nil {
		return nil
	}
	needed, later := map[string]bool{}, false
	for _, check := range slices.Backward(run.Policy.Checks) {
		base, found := run.BaseCheck(check.Name)
		needed[check.Name] = at.Only(check.Name) || later && found && (base.Tests == nil || !plainRunner(base.Command))
		later = later || needed[check.Name]
	}
	return func(check string) bool { return needed[check] }
}
