package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Task is a commit as work for an agent: its text is what is asked for, its tests are hidden.
type Task struct {
	ID    string
	Base  string // the commit to begin from
	Gold  string // the commit itself
	Title string
	Body  string
}

// History returns the newest commits that change both a program and tests, or the commits named.
func (e *Eval) History(ctx context.Context, last int, named []string) ([]Task, error) {
	list := []string{"rev-list", "--parents", "--no-walk=unsorted"}
	names := named
	if len(named) == 0 {
		limit := fmt.Sprintf("--max-count=%d", 100*last)
		list = []string{"rev-list", "--parents", "--first-parent", "--no-merges", limit}
		names = []string{"HEAD"}
	}
	for _, name := range names {
		sha, err := e.Store.Git().Named(ctx, e.Repo, name)
		if err != nil {
			return nil, err
		}
		list = append(list, sha)
	}
	commits, err := e.Store.Ask(ctx, list...)
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for line := range strings.Lines(commits) {
		shas := strings.Fields(line) // a commit and its parents
		if len(named) == 0 && len(tasks) == last {
			break
		}
		if len(shas) < 2 { // the first commit of all
			continue
		}
		task, wanted, err := e.task(ctx, git.Span{From: shas[1], To: shas[0]})
		if err != nil {
			return nil, err
		}
		if wanted || len(named) > 0 {
			tasks = append(tasks, task)
		}
	}
	return tasks, nil
}

// task returns a commit as a task. It is wanted if the commit changes both a program and tests.
func (e *Eval) task(ctx context.Context, change git.Span) (t Task, wanted bool, err error) {
	text, err := e.Store.Ask(ctx, "log", "-1", "--format=%B", change.To)
	if err != nil {
		return Task{}, false, err
	}
	t = Task{ID: change.To[:12], Gold: change.To, Base: change.From}
	t.Title, t.Body, _ = strings.Cut(strings.TrimSpace(text), "\n")
	changes, err := e.Store.Compare(ctx, change)
	if err != nil {
		return Task{}, false, err
	}
	hasTest := slices.ContainsFunc(changes, func(c git.Change) bool {
		return suite.Of(c.Path) == suite.Test
	})
	hasProgram := slices.ContainsFunc(changes, func(c git.Change) bool {
		return suite.Of(c.Path) == suite.None && !suite.Document(c.Path)
	})
	return t, hasTest && hasProgram, nil
}

// passingTests returns the names of the tests that pass.
func passingTests(answers []checkout.Answer) []string {
	var names []string
	for _, a := range answers {
		names = append(names, a.Passing...)
	}
	return names
}

// missedTests returns the tests that pass with the commit itself, and not with the work. Where no test has a name, the
// check counts.
func missedTests(gold, work []checkout.Answer) []string {
	var missed []string
	passing := passingTests(work)
	for _, name := range passingTests(gold) {
		if !slices.Contains(passing, name) {
			missed = append(missed, name)
		}
	}
	for i, a := range gold {
		if !a.Passed || len(a.Passing) > 0 {
			continue
		}
		if i >= len(work) || !work[i].Passed {
			missed = append(missed, "check "+a.Check)
		}
	}
	return missed
}
