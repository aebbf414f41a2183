package proof_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

const (
	one = "import unittest\n\nfrom prices import price\n\n\nclass Prices(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(price(1), 3)\n"
	ten = "import unittest\n\nfrom prices import price\n\n\nclass Ten(unittest.TestCase):\n    def test_ten(self):\n        self.assertEqual(price(10), 20)\n"
)

// bench is a lab on which things are tried: what was wanted of it, in words, and
// what each check then says and prints.
type bench struct {
	lab

	wanted []string
	says   [][]journal.CheckEnded // one after the other; the last of them stays
	prints string                 // %d is the number of the try
	broken error
}

func (b *bench) prover() proof.Prover {
	p := b.lab.prover()
	p.Stand = func(_ context.Context, _ journal.Run, commit string, s proof.Standing) (string, error) {
		b.lab.says = b.says[min(len(b.wanted), len(b.says)-1)]
		texts := ""
		for _, name := range slices.Sorted(maps.Keys(s.Texts)) {
			texts += " " + name + "=" + string(s.Texts[name])
		}
		b.wanted = append(b.wanted, strings.TrimSpace(strings.Join(s.Old, " ")+texts))
		return commit + "+", b.broken
	}
	p.Log = func(journal.CheckEnded) string { return b.prints }
	return p
}

func (b *bench) doubts(t *testing.T, run journal.Run, changes ...tamper.Change) []string {
	t.Helper()
	found, err := b.prover().Doubts(t.Context(), run, verdict.Inspect{Commit: "c1", Tree: "t1"}, changes)
	if !errors.Is(err, b.broken) {
		t.Fatalf("Doubts = %v, want %v", err, b.broken)
	}
	var all []string
	for _, f := range found {
		all = append(all, fmt.Sprint(f.File, " ", f.Kind, ": ", f.Why))
	}
	if len(b.events) > 0 {
		t.Errorf("on record are %v", b.events)
	}
	return all
}

// gone is a test that makes place for one that looks like it.
func gone() []tamper.Change {
	return []tamper.Change{
		{Path: "prices.py", Before: []byte("def price(count):\n    return count * 3\n"), After: []byte("def price(count):\n    return count * 2\n")},
		{Path: "test_one.py", Before: []byte(one)},
		{Path: "test_ten.py", After: []byte(ten)},
	}
}

// A doubt is a finding where the base's own test fails on the new code: that
// test, where names are told, and any where they are not.
func TestDoubtsAreTried(t *testing.T) {
	const why = "test_one.py test_deleted: the test Prices > test_one is gone; as the base has it, it fails here"
	passed := counted(2)
	for name, c := range map[string]struct {
		base, says journal.CheckEnded
		want       []string
	}{
		"it passes":              {passed, passed, nil},
		"it fails":               {passed, failing([]string{"test_one (test_one.Prices.test_one)"}), []string{why}},
		"another fails":          {passed, failing([]string{"test_two (test_two.Prices.test_two)"}), nil},
		"nobody knows what does": {green("test"), red("test", 1), []string{why}},
		"it does not build":      {passed, failing([]string{"p.TestTwo"}, "test_one"), []string{why}},
		"it was red before":      {named(1, "x.test_two"), named(1, "x.test_two"), nil},
		"and more is":            {named(1, "x.test_two"), named(1, "x.test_two", "x.test_one"), []string{why}},
	} {
		b := &bench{says: [][]journal.CheckEnded{{c.says}}}
		c.says.Name, c.base.Name = "test", "test"
		run := asked(c.base)
		run.Baseline.Usable = true
		if diff := cmp.Diff(c.want, b.doubts(t, run, gone()...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"test_one.py"}, b.wanted); diff != "" {
			t.Errorf("%s: put there (-want +got):\n%s", name, diff)
		}
	}
}

// Where nothing can be tried a doubt stays; where nothing could be proven, or
// there is no doubt, nothing is.
func TestDoubtsThatCannotBeTried(t *testing.T) {
	run := asked(green("test"))
	run.Policy.Setup = run.Policy.Checks
	b := &bench{lab: lab{sets: []journal.SetupEnded{{Name: "npm ci", Exit: 1}}}, says: [][]journal.CheckEnded{nil}}
	if got := b.doubts(t, run, gone()...); len(got) != 1 || !strings.Contains(got[0], "could not be run: setup failed") {
		t.Errorf("found %q where setup fails", got)
	}
	b = &bench{says: [][]journal.CheckEnded{nil}}
	if run.Baseline = nil; b.doubts(t, run, gone()...) != nil || b.wanted != nil {
		t.Errorf("tried %q where nothing is proven", b.wanted)
	}
	run = asked(green("test"))
	if got := b.doubts(t, run, gone()[0]); got != nil || b.wanted != nil {
		t.Errorf("tried %q without a doubt, found %q", b.wanted, got)
	}
	b.broken = errors.New("no space left")
	b.doubts(t, run, gone()...)
	b.doubts(t, run, moved("a.sh")...)
}

// moved are tests in sh that lie elsewhere now.
func moved(names ...string) []tamper.Change {
	var changes []tamper.Change
	for _, name := range names {
		text := []byte("test " + name + "\n")
		changes = append(changes, tamper.Change{Path: "tests/" + name, Before: text}, tamper.Change{Path: "old/" + name, After: text})
	}
	return changes
}

// A test that has moved is run where a program that only fails is noticed in its
// place.
func TestMovedTestsAreTried(t *testing.T) {
	const idle = " now, and no check runs them there: one that fails in their place goes unnoticed"
	a, b := "tests/a.sh test_deleted: its tests are in old/a.sh"+idle, "tests/b.sh test_deleted: its tests are in old/b.sh"+idle
	noticed, not := []journal.CheckEnded{red("test", 1)}, []journal.CheckEnded{green("test")}
	for name, c := range map[string]struct {
		says   [][]journal.CheckEnded
		prints string
		want   []string
		tries  int
	}{
		"none is run":      {[][]journal.CheckEnded{not}, "", []string{a, b}, 1},
		"one is":           {[][]journal.CheckEnded{noticed, not}, "ralph-looks-whether-this-runs-0-", []string{b}, 2},
		"both say so":      {[][]journal.CheckEnded{noticed}, "ralph-looks-whether-this-runs-0- ralph-looks-whether-this-runs-1-", nil, 1},
		"one by one":       {[][]journal.CheckEnded{noticed}, "ralph-looks-whether-this-runs-0-", nil, 2},
		"nobody says what": {[][]journal.CheckEnded{noticed}, "failed", nil, 1},
	} {
		l := &bench{says: c.says, prints: c.prints}
		if diff := cmp.Diff(c.want, l.doubts(t, asked(green("test")), moved("a.sh", "b.sh")...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(l.wanted) != c.tries {
			t.Errorf("%s: tried %q, want %d tries", name, l.wanted, c.tries)
		}
	}
}

// What stands in for a test fails by the means of its language; what kept it
// from being built before does so still. What was no test is not asked about.
func TestStandIns(t *testing.T) {
	for path, want := range map[string]string{
		"test_a.py":    "raise SystemError(\"WORD\")\n",
		"a.test.ts":    "throw new Error(\"WORD\");\n",
		"tests/a.sh":   "echo WORD\nexit 1\n",
		"a_test.rb":    "raise \"WORD\"\n",
		"a_test.go":    "//go:build slow\n\n/*\npackage b\n*/\npackage a\n\nfunc init() { panic(\"WORD\") }\n",
		"ATest.java":   "WORD\n",
		"notes/a.text": "",
	} {
		text := []byte("//go:build slow\n\n/*\npackage b\n*/\npackage a\n\nfunc TestA() {}\n")
		b := &bench{says: [][]journal.CheckEnded{{red("test", 1)}}}
		b.doubts(t, asked(green("test")), tamper.Change{Path: path, Before: text}, tamper.Change{Path: "old/" + path, After: text})
		got := strings.ReplaceAll(strings.Join(b.wanted, ""), "ralph-looks-whether-this-runs-0-", "WORD")
		if want != "" {
			want = "old/" + path + "=" + want
		}
		if diff := cmp.Diff(strings.TrimSpace(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}
