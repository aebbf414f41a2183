package checkout

import (
	"context"
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// AtCommit returns a file of a commit, and whether that could be asked at all.
func AtCommit(ctx context.Context, trusted *git.Trusted, commit, name string) ([]byte, error) {
	r := reader{ctx: ctx, trusted: trusted, commit: commit}
	return r.file(name), r.err
}

// InlineTests returns the tests that a text contains.
func InlineTests(ctx context.Context, text string, ran []string) ([]string, error) {
	m := comparison{ctx: ctx}
	tests, _ := m.testsIn(text, ran)
	return tests, m.err
}

// Defining returns the files of a change that define the checks.
func Defining(ctx context.Context, trusted *git.Trusted, span git.Span, checks ...string) ([]string, error) {
	p := policy.Policy{}
	for _, command := range checks {
		p.Checks = append(p.Checks, policy.Check{Name: command, Command: command})
	}
	changes, err := changedDefinitions(ctx, trusted, journal.Run{Base: span.From, Policy: p}, span)
	return slices.Sorted(maps.Keys(changes)), err
}

// NamesIn returns the names of files and folders that a part of a line can stand for.
func NamesIn(part string) []string { return namesIn(part) }
