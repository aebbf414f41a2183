package eval

import (
	"context"
	"errors"
	"slices"

	"github.com/ralph-loop/ralph/internal/checkout"
)

// exam returns what the checks say of a commit with the hidden tests in it.
func (t *trial) exam(ctx context.Context, commit string) (answers []checkout.Answer, err error) {
	err = t.Verify(ctx, t.origin, func(v *checkout.Verifier) (err error) {
		var unready string
		answers, unready, err = v.Exam(ctx, t.origin, checkout.Exam{Base: t.task.Base, Commit: commit, Tests: t.task.Gold}, t.Rules)
		if err == nil && unready != "" {
			err = errors.New(unready)
		}
		return err
	})
	return answers, err
}

// missed returns the hidden tests that do not pass with a commit; each has two tries.
func (t *trial) missed(ctx context.Context, commit string, gold []checkout.Answer) (names []string, err error) {
	for try := range 2 {
		work, err := t.exam(ctx, commit)
		if err != nil {
			return nil, err
		}
		missed := t.task.missed(gold, work)
		if try > 0 {
			missed = slices.DeleteFunc(missed, func(name string) bool { return !slices.Contains(names, name) })
		}
		if names = missed; len(names) == 0 {
			return nil, nil
		}
	}
	return names, nil
}

func known(answers []checkout.Answer) (names []string) {
	for _, a := range answers {
		names = append(names, a.Passing...)
	}
	return names
}

// missed returns the tests that have to pass and do not: the task's, or all that pass with the commit.
func (t Task) missed(gold, work []checkout.Answer) (missed []string) {
	passing := known(work)
	want := known(gold)
	if len(t.FailToPass) > 0 {
		want = slices.Concat(t.FailToPass, t.PassToPass)
	}
	for _, name := range want {
		if !slices.Contains(passing, name) {
			missed = append(missed, name)
		}
	}
	if len(t.FailToPass) > 0 {
		return missed
	}
	for i, a := range gold {
		if a.Passed && len(a.Passing) == 0 && (i >= len(work) || !work[i].Passed) {
			missed = append(missed, "check "+a.Check)
		}
	}
	return missed
}
