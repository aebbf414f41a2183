package proof

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// turned is what is red on the base code and green with the change.
type turned struct {
	tests  []string // by name
	wholes []string // what could not be built or loaded, where no test of it is told
	all    bool     // a check of which nothing is told by name
}

// whole tells whether something turned that is no test by itself.
func (t turned) whole() bool { return t.all || len(t.wholes) > 0 }

func (t *trial) sum() turned {
	sure, _ := t.mended()
	sum := turned{tests: sure}
	for _, there := range t.seen.checks {
		one := t.turned(there)
		if t.anew != nil {
			one = t.still(one, there.Name)
		}
		sum.tests, sum.wholes, sum.all = append(sum.tests, one.tests...), append(sum.wholes, one.wholes...), sum.all || one.all
	}
	return sum
}

func (t *trial) turned(there journal.CheckEnded) (sum turned) {
	base, found := t.run.BaseCheck(there.Name)
	here, proven := journal.FindCheck(t.proof.Checks, there.Name)
	switch {
	case !found || !proven || there.Passed || there.Skipped != "" || untold(there) != "":
		return turned{}
	case !verdict.CanProve(t.run, here) || verdict.BlocksStory(t.run, here) || base.Tests != nil && base.Tests.Cut:
		return turned{}
	case len(there.Tests.Failing()) == 0 && t.narrowed[there.Name] && here.Tests != nil: // which says nothing of a test
		return turned{}
	case len(there.Tests.Failing()) == 0:
		sum.all = base.Passed && here.Passed && !silenced(base, here)
		t.mute = t.mute || !sum.all
		return sum
	}
	for _, name := range t.fresh(there) {
		t.one(&sum, name, there, here)
	}
	return sum
}

// one adds what is fresh in a check, as far as it turned and is this story's.
func (t *trial) one(sum *turned, name string, there, here journal.CheckEnded) {
	if within := t.within(name, there, here); len(within) > 0 {
		sum.tests = append(sum.tests, within...)
		return
	}
	whole := slices.Contains(there.Tests.Broken, name)
	switch {
	case !t.passes(here, name):
		t.mute = true
	case whole && t.narrowed[there.Name]: // a run of few tests may end otherwise than one of all
		t.mute = true
	case whole:
		sum.wholes = append(sum.wholes, name)
	case t.before(name):
		t.owned = true
	default:
		sum.tests = append(sum.tests, name)
	}
}

// silenced tells that a check is green only because no tests ran any more.
func silenced(base, here journal.CheckEnded) bool {
	if here.Tests != nil {
		return here.Tests.Passed == 0
	}
	return base.Tests != nil && base.Tests.Passed > 0
}

// passes tells whether what failed on the base passes with the change, by name or as a part.
func (t *trial) passes(here journal.CheckEnded, name string) bool {
	told := t.tests.Told(here)
	packages := here.Tests != nil && here.Tests.Runner == "go" // of which "ok" does not say that a test ran
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

// contains tells whether a test belongs to a file, a class, or a test with parts.
func contains(whole, name string) bool {
	rest, is := strings.CutPrefix(name, whole)
	return is && (rest == "" || !tally.Letter(rune(rest[0])))
}

// within are the tests, passing now and of no other story, of what did not even build or load.
func (t *trial) within(broken string, there, here journal.CheckEnded) []string {
	file := t.unloaded(broken, there, here)
	if !file && !slices.Contains(there.Tests.Broken, broken) {
		return nil
	}
	base, _ := t.run.BaseCheck(there.Name)
	known, ran := t.tests.Told(base), t.tests.Told(there)
	var names []string
	for _, name := range t.tests.Told(here).Names(tally.Passed) {
		belongs := strings.HasPrefix(name, broken) || file && ran.Of(name) == tally.Absent
		if name == broken || !belongs || known.Of(name) != tally.Absent {
			continue
		}
		if t.before(name) {
			t.owned = true
			continue
		}
		names = append(names, name)
	}
	return names
}

var script = pattern.Of(`\.[cm]?[jt]sx?$`)

// unloaded tells of a file that node names in the place of its tests, as it could not
// load it. With the change it names the tests, without their file: those that did not
// run before. A file that is named each time is a test itself.
func (t *trial) unloaded(name string, there, here journal.CheckEnded) bool {
	node := there.Tests.Runner == "node" || there.Tests.Runner == "tap"
	ran := t.tests.Told(there)
	return node && script.MatchString(name) && len(ran.Tests) > 0 && !ran.Cut && t.tests.Told(here).Of(name) == tally.Absent
}

// heads are the tests that ended so, without what tells the cases of one apart.
func heads(told tally.Tally, how ...tally.Outcome) map[string]bool {
	names := map[string]bool{}
	for _, name := range told.Names(how...) {
		names[tally.Head(name)] = true
	}
	return names
}
