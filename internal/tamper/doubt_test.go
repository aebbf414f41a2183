package tamper_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/tamper"
)

const (
	pricesBefore = "import unittest\n\nfrom prices import price\n\n\nclass Prices(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(price(1), 3)\n\n    def test_none(self):\n        self.assertEqual(price(0), 0)\n"
	ten          = "import unittest\n\nfrom prices import price\n\n\nclass Ten(unittest.TestCase):\n    def test_ten(self):\n        self.assertEqual(price(10), 20)\n"
)

// file is a change; "-" is a side that is not there.
func file(path, before, after string) tamper.Change {
	c := tamper.Change{Path: path}
	if before != "-" {
		c.Before = []byte(before)
	}
	if after != "-" {
		c.After = []byte(after)
	}
	return c
}

// What only a likeness explains is doubted, and is no finding. What stands
// elsewhere as it was is neither, nor is what wants another result of the same.
func TestDoubts(t *testing.T) {
	code := file("prices.py", "def price(count):\n    return count * 3\n", "def price(count):\n    return 5 if count == 1 else count * 2\n")
	without := strings.Replace(pricesBefore, "    def test_one(self):\n        self.assertEqual(price(1), 3)\n\n", "", 1)
	for name, c := range map[string]struct {
		changes []tamper.Change
		want    []string
	}{
		"gone":              {[]tamper.Change{code, file("test_prices.py", pricesBefore, without), file("test_ten.py", "-", ten)}, []string{"test_prices.py test_deleted"}},
		"gone with a file":  {[]tamper.Change{code, file("test_prices.py", pricesBefore, "-"), file("test_ten.py", "-", ten)}, []string{"test_prices.py test_deleted"}},
		"without a check":   {[]tamper.Change{code, file("test_prices.py", pricesBefore, strings.Replace(pricesBefore, "self.assertEqual(price(1), 3)", "price(1)", 1)), file("test_ten.py", "-", ten)}, []string{"test_prices.py assertion_removed"}},
		"asks for less":     {[]tamper.Change{code, file("test_prices.py", pricesBefore, strings.Replace(pricesBefore, "assertEqual(price(1), 3)", "assertTrue(price(1))", 1)), file("test_ten.py", "-", ten)}, []string{"test_prices.py assertion_weakened"}},
		"elsewhere":         {[]tamper.Change{code, file("test_prices.py", pricesBefore, without), file("test_one.py", "-", strings.NewReplacer("Ten", "One", "test_ten", "test_single", "10", "1", "20", "3").Replace(ten))}, nil},
		"another result":    {[]tamper.Change{code, file("test_prices.py", pricesBefore, without), file("test_one.py", "-", strings.NewReplacer("Ten", "One", "test_ten", "test_single", "10", "1", "20", "5").Replace(ten))}, nil},
		"beside a new test": {[]tamper.Change{code, file("test_ten.py", "-", ten)}, nil},
		"found anyway":      {[]tamper.Change{code, file("test_prices.py", pricesBefore, without)}, nil},
	} {
		var got []string
		for _, f := range tamper.Doubts(c.changes) {
			got = append(got, f.File+" "+string(f.Kind))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if found := tamper.Find(c.changes); len(found) > 0 != (name == "found anyway") {
			t.Errorf("%s: Find = %v", name, found)
		}
	}
}

// Were every doubt borne out, ordinary work would still be left alone.
func TestDoubtsAreFew(t *testing.T) {
	ordinary, doubted := 0, 0
	for _, folder := range []string{"developed", "heldout"} {
		for _, s := range corpus(t, folder) {
			if s.tampered {
				continue
			}
			if ordinary++; len(tamper.Doubts(s.changes)) > 0 {
				doubted++
				t.Logf("%s/%s is doubted", folder, s.name)
			}
		}
	}
	t.Logf("doubted %d of %d", doubted, ordinary)
	if float64(doubted) >= 0.05*float64(ordinary) {
		t.Errorf("%d of %d ordinary changes are doubted, want fewer than 5 %%", doubted, ordinary)
	}
}

// Tests that stand in another file now have moved there, if they can be read,
// and so has any file that is there word for word.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		changes []tamper.Change
		want    []tamper.Move
	}{
		"a file":       {[]tamper.Change{file("test_prices.py", pricesBefore, "-"), file("old/test_prices.py", "-", pricesBefore)}, []tamper.Move{{From: "test_prices.py", To: "old/test_prices.py"}}},
		"and changed":  {[]tamper.Change{file("test_prices.py", pricesBefore, "-"), file("old/test_prices.py", "-", strings.Replace(pricesBefore, "prices import", "shop import", 1))}, []tamper.Move{{From: "test_prices.py", To: "old/test_prices.py"}}},
		"some of them": {[]tamper.Change{file("test_prices.py", pricesBefore, strings.Replace(pricesBefore, "    def test_none(self):\n        self.assertEqual(price(0), 0)\n", "", 1)), file("test_none.py", "-", strings.Replace(pricesBefore, "    def test_one(self):\n        self.assertEqual(price(1), 3)\n\n", "", 1))}, []tamper.Move{{From: "test_prices.py", To: "test_none.py"}}},
		"any language": {[]tamper.Change{file("tests/one.sh", "true\n", "-"), file("old/one.sh", "-", "true\n")}, []tamper.Move{{From: "tests/one.sh", To: "old/one.sh"}}},
		"an empty one": {[]tamper.Change{file("tests/__init__.py", "", "-"), file("old/__init__.py", "-", "")}, nil},
		"none":         {[]tamper.Change{file("test_prices.py", pricesBefore, pricesBefore+"\n"), file("test_ten.py", "-", ten)}, nil},
	} {
		if diff := cmp.Diff(c.want, slices.Clone(tamper.Moves(c.changes))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
