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

type sight struct {
	unready string // why it could not be made ready; empty: it could
	checks  []journal.CheckEnded
}

// run lends a checkout for the length of setup and checks, and remembers what
// they said. A check that is to be run again is so in another one: what fails
// wherever it has never been run, and not the second time, is no chance.
func (p Prover) run(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) (sight, error) {
	doubtful := func(e journal.CheckEnded) bool { return at.Again != nil && !e.CannotRun && at.Again(e) }
	waiting := false // the record has the checks in their order
	seen, err := p.once(ctx, run, at, func(event journal.Event) {
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
	p.Ahead.drop() // chance must not come from what runs beside
	first := slices.IndexFunc(seen.checks, doubtful)
	if err = p.again(ctx, run, at, seen.checks[first:], doubtful); err != nil {
		return seen, err
	}
	for _, check := range seen.checks[first:] {
		emit(check)
	}
	return seen, nil
}

// add runs the checks that a place wants, if any, beside what was seen.
func (p Prover) add(ctx context.Context, run journal.Run, at Place, to *sight, emit func(journal.Event)) error {
	if !slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return at.Only(check.Name) }) {
		return nil
	}
	seen, err := p.run(ctx, run, at, emit)
	to.unready, to.checks = seen.unready, append(to.checks, seen.checks...)
	return err
}

// again runs those of some checks that are doubtful once more. How they end then
// counts, and both runs are on record. In a checkout that cannot be made ready they
// stay as they are.
func (p Prover) again(ctx context.Context, run journal.Run, at Place, checks []journal.CheckEnded, doubtful func(journal.CheckEnded) bool) error {
	at.Second = true
	sure, err := p.sure(ctx, run, at, checks, doubtful)
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
	var seen sight
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

// sure runs the tests that failed anew in some checks once more, with those of the
// same files or packages alone, and tells in which checks all of them fail again. Of
// these two runs the one of all tests counts.
func (p Prover) sure(ctx context.Context, run journal.Run, at Place, checks []journal.CheckEnded, doubtful func(journal.CheckEnded) bool) (map[string]bool, error) {
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
		at.Commands[check.Name] = r.red(command, fresh[check.Name])
	}
	at.Again, at.Only = nil, func(name string) bool { return at.Commands[name] != "" }
	var seen sight
	err := p.add(ctx, run, at, &seen, func(journal.Event) {})
	for i, check := range checks {
		second, ran := journal.FindCheck(seen.checks, check.Name)
		switch failing := second.Tests.Failing(); {
		case !ran:
		case slices.ContainsFunc(fresh[check.Name], func(name string) bool { return !slices.Contains(failing, name) }):
			checks[i].TookMS += second.TookMS // all tests run again
		default:
			checks[i].First, sure[check.Name] = second.Try(), true
		}
	}
	return sure, err
}

// firstRun is what is kept of the first run of a check: with it, how the tests ended
// there that failed in the second. They are asked for only where the command is a
// test runner and nothing else: what follows in a script did not run at all.
func (p Prover) firstRun(check, second journal.CheckEnded) *journal.Try {
	first := check.Try()
	if first.Tests == nil || !plainRunner(check.Command) {
		return first
	}
	tests, told := *first.Tests, p.Tests.Told(check)
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

// once is a single go. Without checks nothing has to be made ready.
func (p Prover) once(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) (sight, error) {
	if p.seek != nil {
		return sight{}, p.seek(at)
	}
	if seen, ran := p.Ahead.take(run, at, emit); ran {
		return seen, nil
	}
	dir, done, err := p.Checkout(ctx, run, cmp.Or(at.Stand, at.Commit))
	if err != nil {
		return sight{}, err
	}
	defer done()
	at.Dir = dir
	var seen sight
	note := func(event journal.Event) {
		switch e := event.(type) { //nolint:gochecksumtype // checkouts have no other events
		case journal.SetupEnded:
			seen.unready = cmp.Or(seen.unready, e.Failure())
		case journal.CheckEnded:
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
