package proof

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Some runners only count passing tests: jest and vitest with more than one file, unittest.
// As many new tests can stand for those that no longer run.

// onlyCounts reports whether a check counts passing tests and names none.
func onlyCounts(check journal.CheckEnded, told tally.Tally) bool {
	return check.Tests != nil && check.Tests.Passed > 0 && len(told.Names(tally.Passed)) == 0
}

// compareCounts judges the results of a runner that only counts passing tests.
func (j *judgement) compareCounts(was, here journal.CheckEnded, old *journal.CheckEnded) {
	passing := func(c journal.CheckEnded) int {
		if c.Tests == nil {
			return 0
		}
		return c.Tests.Passed
	}
	now, where := passing(here), "now"
	switch {
	case old == nil:
	case old.Passed && old.Command != was.Command: // selected tests
		return
	case old.Passed:
		now, where = passing(*old), "on the new code"
	case passing(*old) >= was.Tests.Passed:
		return
	}
	if now < was.Tests.Passed {
		j.add(journal.Loosened{
			File: cmp.Or(j.onlyFile(), here.Name), Kind: testsGone, Tests: []string{"check " + was.Name},
			Why: fmt.Sprintf("fewer tests run%s: %d passed before, %d pass %s", j.ref.since(), was.Tests.Passed, now, where),
		})
		return
	}
	if old != nil {
		j.findUndeclared(was, *old)
	}
}

// findUndeclared finds the tests of files that can no longer be loaded, if no touched test
// of the commit declares their names: then they do not run.
func (j *judgement) findUndeclared(was, old journal.CheckEnded) {
	before := j.told(was)
	broken := slices.DeleteFunc(j.told(old).Names(tally.Broken), func(name string) bool { return before.Of(name) == tally.Broken })
	var file string
	declared, gone := map[string]bool{}, map[string]bool{}
	for _, d := range j.differing {
		if d.Tests {
			for _, name := range tally.Declared(j.text(j.commit, d.Path)) {
				declared[name] = true
			}
		}
		if !slices.Contains(j.touched, d.Path) || !slices.ContainsFunc(broken, func(name string) bool { return namesFile(name, d.Path) }) {
			continue
		}
		names := tally.Declared(j.text(j.ref.commit, d.Path))
		if len(names) == 0 {
			names = []string{d.Path}
		}
		for _, name := range names {
			gone[name] = true
		}
		file = cmp.Or(file, d.Path)
	}
	maps.DeleteFunc(gone, func(name string, _ bool) bool { return declared[name] })
	if names := slices.Sorted(maps.Keys(gone)); len(names) > 0 {
		j.add(journal.Loosened{
			File: file, Kind: testsGone, Tests: limited(names),
			Why: "existing tests cannot run on the new code" + j.ref.since() + ", and no test there has their names: " + few(names),
		})
	}
}

// text returns a file's text. If it cannot be read, the work is held.
func (j *judgement) text(commit, file string) string {
	text, err := j.prover.Changes.Text(j.ctx, commit, file)
	j.unread = cmp.Or(j.unread, err)
	return text
}

// hidden returns those of some tests that did not move to where a test of their name runs now:
// no file that the change touches contained them, or their old versions did not run either,
// though they could be loaded.
func (j *judgement) hidden(names []string, old *journal.CheckEnded) []string {
	if old != nil && old.Passed {
		return names
	}
	left := slices.Clone(names)
	for _, d := range j.differing {
		if len(left) > 0 && d.Was && (d.Tests || suite.Code(d.Path)) {
			text := j.text(j.ref.commit, d.Path)
			left = slices.DeleteFunc(left, func(name string) bool { return tally.HasWord(text, tally.Word(name)) })
		}
	}
	return left
}

// namesFile reports whether the name of what could not be loaded is that of a file, or of a
// module of Python in it: "./shop/a.test.js", "shop.test_a (unittest.loader._FailedTest.shop.test_a)".
func namesFile(name, file string) bool {
	name, _, _ = strings.Cut(name, " (")
	if path.Ext(file) == ".py" {
		name = strings.ReplaceAll(name, ".", "/") + ".py"
	}
	return strings.HasSuffix("/"+file, "/"+path.Clean(name))
}
