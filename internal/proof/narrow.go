package proof

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/shell"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// plain is a path that no shell and no runner takes for more than a path.
var plain = pattern.Of(`^\w[\w./-]*$`)

// question is a check that can be asked for the tests in some files.
type question struct {
	runner
	command string
	within  string // the folder that it runs in
}

func (q question) of(files []string) string {
	if len(files) == 0 {
		return ""
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimPrefix(file, q.within))
	}
	return q.ask(q.command, names)
}

// anyTest and apart tell whether a file is one that a runner can be asked for, and
// whether it changes nothing for other files.
func anyTest(r runner, file string) bool {
	if r.tests == nil {
		return suite.Of(file) != suite.None
	}
	return r.tests.MatchString(file)
}

func apart(r runner, file string) bool {
	return r.apart != nil && r.apart.MatchString(file)
}

// narrow are the checks of a proof that can be asked for the tests in some files, by
// name. A check is among them only where its runner, which named its tests before, has
// every one of the files among its own, or where it reads Variable.
func (p Prover) narrow(ctx context.Context, run journal.Run, at journal.Proof, files []string, own func(runner, string) bool) (map[string]question, error) {
	within := strings.TrimSuffix(path.Clean(run.Policy.Subfolder)+"/", "./")
	for _, file := range files {
		if name, is := strings.CutPrefix(file, within); !is || !plain.MatchString(name) {
			return nil, nil
		}
	}
	asked := map[string]question{}
	for _, check := range at.Checks {
		if !verdict.CanProve(run, check) {
			continue
		}
		r, command, err := p.runner(ctx, run, check)
		if err != nil {
			return nil, err
		}
		if r.ask != nil && !slices.ContainsFunc(files, func(file string) bool { return !own(r, strings.TrimPrefix(file, within)) }) {
			asked[check.Name] = question{r, command, within}
		}
	}
	return asked, nil
}

// runner is that of a check, if it can be asked for some tests.
func (p Prover) runner(ctx context.Context, run journal.Run, check journal.CheckEnded) (runner, string, error) {
	command := plainCommand(check.Command)
	i := slices.IndexFunc(runners, func(r runner) bool {
		return command != "" && (check.Tests != nil || r.unnamed) && r.command.MatchString(command) && (r.name == "" || r.name == check.Tests.Runner)
	})
	if i >= 0 {
		return runners[i], command, nil
	}
	reads, err := p.Changes.Reads(ctx, run, check.Command, Variable)
	if err != nil || !reads {
		return runner{}, "", err
	}
	return runner{ask: exported, shared: true}, check.Command, nil
}

// exported has a check read the names of test files.
func exported(command string, files []string) string {
	tests := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return suite.Of(file) != suite.Test })
	return "export " + Variable + "='" + strings.Join(tests, " ") + "'; " + command
}

// plainCommand is a single command without quotes; empty: it is more.
func plainCommand(command string) string {
	words, err := shell.Words(command)
	if err != nil {
		return ""
	}
	return strings.Join(words, " ")
}

// plainRunner tells whether a command is a test runner and nothing else.
func plainRunner(command string) bool {
	command = plainCommand(command)
	return slices.ContainsFunc(runners, func(r runner) bool { return r.name == "" && r.command.MatchString(command) })
}

// few tries only the tests in the story's own files on the base code, where the
// runners can be asked for them, and tells whether that was enough: tests fail
// there by name. Else the checks are on record whose tests pass there: a run of all
// would add what the base said already. The others have to run all tests.
func (p Prover) few(ctx context.Context, t *trial, at Place, files []string, emit func(journal.Event)) (enough bool, err error) {
	asked, err := p.narrow(ctx, t.run, t.proof, files, anyTest)
	if err != nil || len(asked) == 0 {
		return false, err
	}
	at.Commands, t.narrowed = map[string]string{}, map[string]bool{}
	shared := slices.ContainsFunc(slices.Collect(maps.Values(asked)), func(q question) bool { return q.shared })
	for name, q := range asked {
		at.Commands[name], t.narrowed[name] = q.of(files), true
	}
	at.Only = func(name string) bool { return at.Commands[name] != "" }
	tried, events := *t, []journal.Event(nil)
	if tried.seen, err = p.run(ctx, t.run, at, func(event journal.Event) { events = append(events, event) }); err != nil {
		return false, err
	}
	if tried.seen.unready != "" { // no check ran: all of them run in another checkout
		clear(t.narrowed)
	}
	turned := tried.sum()
	if enough = len(turned.tests) > 0 || turned.all; enough && shared {
		enough, err = p.alone(ctx, &tried, at, turned.tests)
	}
	t.graded.CheckRuns = tried.graded.CheckRuns
	for _, event := range events {
		ended, is := event.(journal.CheckEnded)
		if !enough && (!is || !green(ended, files)) {
			t.graded.Add(event)
			delete(t.narrowed, ended.Name)
			continue
		}
		emit(event)
		if is {
			t.seen.checks = append(t.seen.checks, ended)
		}
	}
	return enough, err
}

// green tells that tests ran and pass, and come without data that other tests may read.
func green(ended journal.CheckEnded, files []string) bool {
	data := slices.ContainsFunc(files, func(file string) bool { return suite.Of(file) != suite.Test })
	return !data && ended.Passed && ended.Tests != nil && ended.Tests.Passed > 0
}

// alone tells whether tests, or the checks where these name none, pass with the
// change when only the story's files run, too: else they failed on the base code
// because other tests did not run before them.
func (p Prover) alone(ctx context.Context, t *trial, at Place, tests []string) (bool, error) {
	var err error
	if at.Stand, _, err = p.restore(ctx, t.run, at.Commit); err != nil {
		return false, err
	}
	at.Where, at.Again, at.Number = journal.AtDoubt, nil, tryAlone
	seen, err := p.run(ctx, t.run, at, t.graded.Add)
	if err != nil {
		return false, err
	}
	if len(tests) == 0 {
		return seen.unready == "" && !slices.ContainsFunc(seen.checks, func(check journal.CheckEnded) bool { return !check.Passed }), nil
	}
	return !slices.ContainsFunc(tests, func(name string) bool {
		return !slices.ContainsFunc(seen.checks, func(check journal.CheckEnded) bool { return t.passes(check, name) })
	}), nil
}
