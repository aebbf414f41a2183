package proof

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// turned is what went from red on the base code to green with the change.
type turned struct {
	tests  []string // by name
	groups []string // packages, files or classes that could not be built or loaded
	all    bool     // a check that names no tests
}

// unnamed reports whether something turned that is not a test by name.
func (t turned) unnamed() bool { return t.all || len(t.groups) > 0 }

func (t *trial) allTurned() turned {
	sure, _ := t.fixed()
	sum := turned{tests: sure}
	for _, there := range t.onBase.checks {
		one := t.turnedIn(there)
		sum.tests, sum.groups, sum.all = append(sum.tests, one.tests...), append(sum.groups, one.groups...), sum.all || one.all
	}
	slices.Sort(sum.tests)
	sum.tests = limited(slices.Compact(sum.tests))
	return sum
}

func (t *trial) turnedIn(there journal.CheckEnded) (sum turned) {
	base, found := t.before(there.Name)
	here, proven := journal.FindCheck(t.proof.Checks, there.Name)
	switch {
	case !found || !proven || there.Passed || there.Skipped != "" || noResult(there) != "":
		return turned{}
	case !verdict.CanProve(t.run, here) || verdict.BlocksStory(t.run, here) || base.Tests != nil && base.Tests.Cut:
		return turned{}
	case len(there.Tests.Failing()) == 0 && t.narrowed[there.Name] && here.Tests != nil && here.Tests.Runner != tally.Summary: // which says nothing of a test
		return turned{}
	case len(there.Tests.Failing()) == 0:
		sum.all = base.Passed && here.Passed && !silenced(base, here)
		t.notGreen = t.notGreen || !sum.all
		return sum
	}
	for _, name := range t.newFailures(there) {
		t.add(&sum, name, there, here)
	}
	return sum
}

// add adds a new failure of a check, if it turned and belongs to this story.
func (t *trial) add(sum *turned, name string, there, here journal.CheckEnded) {
	if within := t.testsWithin(name, there, here); len(within) > 0 {
		sum.tests = append(sum.tests, within...)
		return
	}
	whole := slices.Contains(there.Tests.Broken, name)
	switch {
	case !t.passes(here, name):
		t.notGreen = true
	case whole && t.narrowed[there.Name]: // a run of few tests may end otherwise than one of all
		t.notGreen = true
	case whole:
		sum.groups = append(sum.groups, name)
	case t.isForeign(name):
		t.foreign = true
	default:
		sum.tests = append(sum.tests, name)
	}
}

// silenced reports whether a check passes only because no tests ran.
func silenced(base, here journal.CheckEnded) bool {
	if here.Tests != nil {
		return here.Tests.Passed == 0
	}
	return base.Tests != nil && base.Tests.Passed > 0
}

// passes reports whether a failure of the base passes with the change, by its name or that of its parts.
func (t *trial) passes(here journal.CheckEnded, name string) bool {
	told := t.told(here)
	packages := here.Tests != nil && here.Tests.Runner == "go" // whose "ok" of a package does not mean that a test ran
	switch told.Of(name) {
	case tally.Passed:
		return !packages || !tally.Bare(name)
	case tally.Failed, tally.Broken, tally.Skipped:
		return false
	case tally.Absent:
	}
	if slices.Contains(here.Tests.Failing(), name) {
		return false
	}
	named := told.Names(tally.Passed)
	return told.Passed > len(named) || slices.ContainsFunc(named, func(whole string) bool {
		return (!packages || !tally.Bare(whole)) && contains(whole, name)
	})
}

// contains reports whether a test belongs to a file, a class, or a test with parts.
func contains(whole, name string) bool {
	rest, is := strings.CutPrefix(name, whole)
	return is && (rest == "" || !tally.Letter(rune(rest[0])))
}

// testsWithin returns the passing tests of a group that could not be built or loaded on the base.
func (t *trial) testsWithin(broken string, there, here journal.CheckEnded) []string {
	file := t.isUnloadedFile(broken, there, here)
	if !file && !slices.Contains(there.Tests.Broken, broken) {
		return nil
	}
	base, _ := t.before(there.Name)
	known, ran := t.told(base), t.told(there)
	var names []string
	for _, name := range t.told(here).Names(tally.Passed) {
		belongs := strings.HasPrefix(name, broken) || file && ran.Of(name) == tally.Absent
		if name == broken || !belongs || known.Of(name) != tally.Absent {
			continue
		}
		if t.isForeign(name) {
			t.foreign = true
			continue
		}
		if names = append(names, name); len(names) == mostNames {
			break
		}
	}
	return names
}

var script = pattern.Of(`\.[cm]?[jt]sx?$`)

// isUnloadedFile reports whether a name is a file that node could not load. With the change
// node names its tests, without the file. A file that is named both times is itself a test.
func (t *trial) isUnloadedFile(name string, there, here journal.CheckEnded) bool {
	node := there.Tests.Runner == "node" || there.Tests.Runner == "tap"
	ran := t.told(there)
	return node && script.MatchString(name) && len(ran.Tests) > 0 && !ran.Cut && t.told(here).Of(name) == tally.Absent
}

// testNames returns the tests with some outcomes, without the names of their cases.
func testNames(told tally.Tally, how ...tally.Outcome) map[string]bool {
	names := map[string]bool{}
	for _, name := range told.Names(how...) {
		names[tally.Head(name)] = true
	}
	return names
}
