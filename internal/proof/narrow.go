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

// plain matches a path without special characters for shells and runners.
var plain = pattern.Of(`^\w[\w./-]*$`)

// narrowCheck is a check that can run only the tests in some files.
type narrowCheck struct {
	runner
	command string
	within  string // the folder that it runs in
}

func (q narrowCheck) commandFor(files []string) string {
	if len(files) == 0 {
		return ""
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimPrefix(file, q.within))
	}
	return q.ask(q.command, names)
}

// isTest reports whether a runner can run a file alone, and isApart whether a file
// has no effect on the tests of others.
func isTest(r runner, file string) bool {
	if r.tests == nil {
		return suite.Of(file) != suite.None
	}
	return r.tests.MatchString(file)
}

func isApart(r runner, file string) bool {
	return r.apart != nil && r.apart.MatchString(file)
}

// narrow returns the checks of a proof that can run only the tests in some files, by name:
// those whose known runner can run each of the files, and those that read Variable.
func (p Prover) narrow(ctx context.Context, run journal.Run, at journal.Proof, files []string, own func(runner, string) bool) (map[string]narrowCheck, error) {
	within := strings.TrimSuffix(path.Clean(run.Policy.Subfolder)+"/", "./")
	for _, file := range files {
		if name, is := strings.CutPrefix(file, within); !is || !plain.MatchString(name) {
			return nil, nil
		}
	}
	asked := map[string]narrowCheck{}
	for _, check := range at.Checks {
		if !verdict.CanProve(run, check) {
			continue
		}
		r, command, err := p.runner(ctx, run, check)
		if err != nil {
			return nil, err
		}
		if r.ask != nil && !slices.ContainsFunc(files, func(file string) bool { return !own(r, strings.TrimPrefix(file, within)) }) {
			asked[check.Name] = narrowCheck{r, command, within}
		}
	}
	return asked, nil
}

// runner returns the runner of a check if it can run some tests alone.
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

// exported sets Variable for a command.
func exported(command string, files []string) string {
	tests := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return suite.Of(file) != suite.Test })
	return "export " + Variable + "='" + strings.Join(tests, " ") + "'; " + command
}

// plainCommand returns a single command without its quotes, or "" for anything else.
func plainCommand(command string) string {
	words, err := shell.Words(command)
	if err != nil {
		return ""
	}
	return strings.Join(words, " ")
}

// plainRunner reports whether a command is only a test runner.
func plainRunner(command string) bool {
	command = plainCommand(command)
	return slices.ContainsFunc(runners, func(r runner) bool { return r.name == "" && r.command.MatchString(command) })
}

// tryFew runs only the tests in the story's own files on the base code, with checks that
// can. It is enough if tests fail by name. Otherwise the checks whose tests pass are
// recorded, as a run of all tests would add only what the base showed. The other checks
// have to run all tests.
func (p Prover) tryFew(ctx context.Context, t *trial, at Place, files []string, emit func(journal.Event)) (enough bool, err error) {
	asked, err := p.narrow(ctx, t.run, t.proof, files, isTest)
	if err != nil || len(asked) == 0 {
		return false, err
	}
	at.Commands, t.narrowed = map[string]string{}, map[string]bool{}
	shared := slices.ContainsFunc(slices.Collect(maps.Values(asked)), func(q narrowCheck) bool { return q.shared })
	for name, q := range asked {
		at.Commands[name], t.narrowed[name] = q.commandFor(files), true
	}
	at.Only = func(name string) bool { return at.Commands[name] != "" }
	tried, events := *t, []journal.Event(nil)
	if tried.onBase, err = p.run(ctx, t.run, at, func(event journal.Event) { events = append(events, event) }); err != nil {
		return false, err
	}
	if t.onBase.unready = tried.onBase.unready; t.onBase.unready != "" {
		clear(t.narrowed)
		replay(events, emit)
		return false, nil
	}
	turned := tried.allTurned()
	if enough = len(turned.tests) > 0 || turned.all; enough && shared {
		enough, err = p.passAlone(ctx, &tried, at, turned.tests)
	}
	t.graded.CheckRuns = tried.graded.CheckRuns
	for _, event := range events {
		ended, is := event.(journal.CheckEnded)
		if !enough && (!is || !passesWithoutData(ended, files)) {
			t.graded.Add(event)
			delete(t.narrowed, ended.Name)
			continue
		}
		emit(event)
		if is {
			t.onBase.checks = append(t.onBase.checks, ended)
		}
	}
	return enough, err
}

// passesWithoutData reports whether tests ran and pass, and the story adds no data that others may read.
func passesWithoutData(ended journal.CheckEnded, files []string) bool {
	data := slices.ContainsFunc(files, func(file string) bool { return suite.Of(file) != suite.Test })
	return !data && ended.Passed && ended.Tests != nil && ended.Tests.Passed > 0
}

// passAlone reports whether tests, or checks that name none, also pass with the change when
// only the story's files run. Otherwise they may have failed on the base code because other
// tests did not run before them.
func (p Prover) passAlone(ctx context.Context, t *trial, at Place, tests []string) (bool, error) {
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
