package checkout

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Inline tests stand in a file that its path does not show to be a test: Rust's unit tests,
// or a test file with an unusual name. The runner's report names them.

// markInline marks touched code files with markInline tests. The old tests run with the earlier
// commit's version of the file from its first test on.
func (m *comparison) markInline(ran []string, files []proof.Differing) {
	was, now := reader{ctx: m.ctx, trusted: m.trusted, commit: m.span.From}, reader{ctx: m.ctx, trusted: m.trusted, commit: m.span.To}
	places := map[string]*proof.Differing{}
	for i := range files {
		if d := &files[i]; d.Was && !d.Tests && paths.Code(d.Path) && !m.removed[d.Path] { // tests of removed files are reported as gone
			places[d.Path] = d
		}
	}
	err := was.each(slices.Sorted(maps.Keys(places)), func(name, old string) {
		tests, first := m.testsIn(old, ran)
		if len(tests) == 0 {
			return
		}
		young := string(now.file(name)) // empty if it cannot be read: then only the old tests run, and fail
		if text := withTail(young, old[first:], tests); text != young {
			d := places[name]
			d.Tests, d.Doubtful, d.Settings, d.Inline, d.Text = true, true, false, tests, []byte(text)
		}
	})
	m.err = errors.Join(m.err, err, now.err)
}

// testsIn returns the tests that a file contains, and where the first begins. Names that a
// test file or a check's definition contains, too, are left out: the test is there.
func (m *comparison) testsIn(text string, ran []string) (tests []string, first int) {
	at, words := map[string]int{}, []string{}
	for _, test := range ran {
		if m.err = cmp.Or(m.err, m.ctx.Err()); m.err != nil { // an output can name any number of tests
			return nil, len(text)
		}
		if line := tally.Standing(text, test); line >= 0 {
			at[test], words = line, append(words, tally.Word(test))
		}
	}
	m.findUsers(m.span.From, words)
	first = len(text)
	for _, test := range slices.Sorted(maps.Keys(at)) {
		if by := m.usersOf(m.span.From, tally.Word(test)); !by.tests && !by.checks {
			tests, first = append(tests, test), min(first, at[test])
		}
	}
	return tests, first
}

// withTail replaces the end of a text by tail: from the first line of tail on, or from the
// first of some tests if it has no such line.
func withTail(text, tail string, tests []string) string {
	first, _, _ := strings.Cut(tail, "\n")
	head, _, found := strings.Cut("\n"+text+"\n", "\n"+first+"\n")
	if !found {
		end := len(text)
		for _, test := range tests {
			if at := tally.Standing(text, test); at >= 0 {
				end = min(end, at)
			}
		}
		head = "\n" + strings.TrimSuffix(text[:end], "\n")
	}
	return strings.TrimPrefix(head+"\n", "\n") + tail
}
