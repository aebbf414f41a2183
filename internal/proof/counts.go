package proof

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Some runners only count passing tests: jest and vitest with more than one file, unittest, rspec, Maven.
// As many new tests can stand for those that no longer run.

// onlyCounts reports whether a check counts passing tests and names none.
func onlyCounts(check journal.CheckEnded, told tally.Tally) bool {
	return check.Tests != nil && check.Tests.Passed > 0 && len(told.Names(tally.Passed)) == 0
}

// complete reports whether all tests of a check are known.
func complete(check journal.CheckEnded) bool {
	return check.Tests != nil && !check.Tests.Cut && !check.TimedOut && !check.CannotRun
}

// countsMore reports whether a check counts more passing tests than it names, as those of one runner of several.
func (j *judgement) countsMore(check journal.CheckEnded) bool {
	return check.Tests != nil && check.Tests.Passed > len(j.told(check).Names(tally.Passed))
}

// counts returns how many tests passed and were skipped.
func counts(check journal.CheckEnded) (n struct{ passed, skipped int }) {
	if check.Tests != nil {
		n.passed, n.skipped = check.Tests.Passed, check.Tests.Skipped
	}
	return n
}

// compareCounts judges the results of a runner that only counts passing tests.
func (j *judgement) compareCounts(was, here journal.CheckEnded, old *journal.CheckEnded) {
	before, now, where := counts(was), counts(here), "now"
	selected := old != nil && old.Passed && old.Command != was.Command
	switch {
	case old == nil || selected:
	case old.Passed:
		now, where = counts(*old), "on the new code"
	case counts(*old).passed >= before.passed:
		return
	}
	why := ""
	switch {
	case selected && old.Tests == nil:
		why = "the old versions of tests print no count of tests on the new code" + j.ref.since()
	case !selected && now.passed < before.passed:
		why = fmt.Sprintf("fewer tests run%s: %d passed before, %d pass %s", j.ref.since(), before.passed, now.passed, where)
	case now.skipped > before.skipped: // a new test can stand for each
		why = fmt.Sprintf("more tests are skipped%s: %d before, %d %s", j.ref.since(), before.skipped, now.skipped, where)
	}
	if why != "" {
		j.add(journal.Loosened{File: cmp.Or(j.onlyFile(), here.Name), Kind: testsGone, Tests: []string{"check " + was.Name}, Why: why})
		return
	}
	if selected {
		return
	}
	if old != nil {
		j.findUndeclared(was, *old)
	}
}

// findUndeclared finds the tests of files that can no longer be loaded, if no touched test
// of the commit declares their names: then they do not run.
func (j *judgement) findUndeclared(was, old journal.CheckEnded) {
	files := j.unloaded(was, old)
	if len(files) == 0 {
		return
	}
	declared := map[string]bool{}
	for _, d := range j.differing {
		if d.Tests {
			for _, name := range tally.Declared(j.text(j.commit, d.Path)) {
				declared[name] = true
			}
		}
	}
	var gone []string
	for _, file := range files {
		names := tally.Declared(j.text(j.ref.tests, file))
		if len(names) == 0 {
			names = []string{file}
		}
		gone = append(gone, slices.DeleteFunc(names, func(name string) bool { return declared[name] })...)
	}
	slices.Sort(gone)
	if gone = slices.Compact(gone); len(gone) > 0 {
		j.add(journal.Loosened{
			File: files[0], Kind: testsGone, Tests: limited(gone),
			Why: "existing tests cannot run on the new code" + j.ref.since() + ", and no test there has their names: " + few(gone),
		})
	}
}

// unloaded returns the touched tests that could be loaded before, and whose old versions cannot be on the new code.
func (j *judgement) unloaded(was, old journal.CheckEnded) []string {
	before := j.told(was)
	broken := slices.DeleteFunc(j.told(old).Names(tally.Broken), func(name string) bool { return before.Of(name) == tally.Broken })
	return slices.DeleteFunc(slices.Clone(j.touched), func(file string) bool {
		return !slices.ContainsFunc(broken, func(name string) bool { return namesFile(name, file) })
	})
}

// text returns a file's text. If it cannot be read, the work is held.
func (j *judgement) text(commit, file string) string {
	text, err := j.prover.Changes.Text(j.ctx, commit, file)
	j.unread = cmp.Or(j.unread, err)
	return text
}

// hidden returns those of some tests that have not moved, although a test with their name runs. A test
// moved only if a touched file contained it. If all old tests pass without it, it did not move either:
// its file was put back, and the runner did not find it.
func (j *judgement) hidden(names []string, old *journal.CheckEnded) []string {
	if old != nil && old.Passed {
		return names
	}
	left := slices.Clone(names)
	for _, d := range j.differing {
		if len(left) > 0 && d.Was && (d.Tests || suite.Code(d.Path)) {
			text := j.text(j.ref.tests, d.Path)
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
