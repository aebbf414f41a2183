package tally_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/tally"
)

// More lines that no recording in testdata has.
func TestMoreLines(t *testing.T) {
	rule := strings.Repeat("=", 70)
	for name, test := range map[string]struct{ output, want string }{
		"unittest: verbose": {
			"test_adds (test_cart.Cart) ... ok\ntest_removes (test_cart.Cart) ... skipped 'later'\ntest_pays (test_cart.Cart) ... expected failure\n" +
				rule + "\nFAIL: test_bills (test_cart.Cart)\n\nRan 4 tests in 0.001s\n\nFAILED (failures=1, skipped=1, expected failures=1)\n",
			"unittest: 1 passed, 1 failed, 2 skipped\npassed test_adds (test_cart.Cart)\nskipped test_removes (test_cart.Cart)\nskipped test_pays (test_cart.Cart)\nfailed test_bills (test_cart.Cart)\n",
		},
		"unittest: only totals": {
			"....\nRan 4 tests in 0.001s\n\nOK (skipped=1)\nOK\n", "unittest: 3 passed, 0 failed, 1 skipped\n",
		},
		"unittest: failures without names": {
			"Ran 3 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n", "unittest: 1 passed, 2 failed, 0 skipped, output cut\n",
		},
		"unittest: a rule of dashes, and a result before any test": {
			strings.Repeat("-", 70) + "\nFAIL: test_a (a.A)\nOK\n" + rule + "\nno test\n", ": 0 passed, 0 failed, 0 skipped\n",
		},
		"pytest: a parameter that contains the separator of the reason": {
			"=== test session starts ===\n=== short test summary info ===\nFAILED a.py::adds[1 - 2] - assert 1\nFAILED a.py::adds[3 - 4]\nFAILED a.py::pays - assert [1] - 2\nXFAIL a.py - later\n=== 3 failed in 0.1s ===\n",
			"pytest: 0 passed, 3 failed, 1 skipped\nfailed a.py::adds[1 - 2]\nfailed a.py::adds[3 - 4]\nfailed a.py::pays\nskipped a.py\n",
		},
		"pytest: without a beginning": {"no tests ran in 0.01s\n1 passed in 0.1s\n", "pytest: 1 passed, 0 failed, 0 skipped\n"},
		"pytest: passed, and failed in its teardown": {
			"=== test session starts ===\na.py::adds PASSED [ 50%]\na.py::adds ERROR [100%]\n=== 1 passed, 1 error in 0.1s ===\n", "pytest: 1 passed, 1 failed, 0 skipped\nfailed a.py::adds\n",
		},
		"colours and overwritten text": {
			"\x1b[32mTAP version 13\x1b[0m\r\nworking\rok 1 - \x1b]0;title\x07adds\n1..1\n", "tap: 1 passed, 0 failed, 0 skipped\npassed adds\n",
		},
		"tap: a YAML block without an end": {
			"TAP version 13\nnot ok 1 - adds\n  ---\n  not ok: here\n\n  more\n  ...\nok 2 - pays\nok 3 - bills\n  ---\nok 4 - orders\n1..4\n",
			"tap: 3 passed, 1 failed, 0 skipped\nfailed adds\npassed pays\npassed bills\npassed orders\n",
		},
		"tap: a subtest in braces": {
			"TAP version 14\nok 1 - cart {\n    ok 1 - adds\n    1..1\n}\nok 2 - bills\n1..2\n", "tap: 3 passed, 0 failed, 0 skipped\npassed cart\npassed cart > adds\npassed bills\n",
		},
		"tap: no version and no plan":  {"ok 1 - adds\n", ": 0 passed, 0 failed, 0 skipped\n"},
		"tap: a version and no points": {"TAP version 13\n", ": 0 passed, 0 failed, 0 skipped\n"},
		"tap: okay is a word":          {"TAP version 13\nokay then\nok\n1..1\n", "tap: 1 passed, 0 failed, 0 skipped\npassed test\n"},
	} {
		if diff := cmp.Diff(test.want, summarize(read(t, test.output))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A long name is cut between two characters, and stays different from others.
func TestCutNames(t *testing.T) {
	long := strings.Repeat("é", 200)
	got := read(t, "TAP version 13\nok 1 - a"+long+"\nok 2 - a"+long+"b\n1..2\n")
	one, two := got.Tests[0].Name, got.Tests[1].Name
	if one == two || !strings.HasPrefix(one, "aé") || strings.ContainsRune(one, '\uFFFD') || len(one) > 330 || len(one) < 300 {
		t.Errorf("names %q and %q", one, two)
	}
}

// Parse reads the output of String and ignores other lines.
func TestParse(t *testing.T) {
	got := tally.Parse("failed b\nfailed a\npassed c\nodd d\nfailed\nabsent e\nskipped f g\n")
	if got.Passed != 1 || got.Failed != 2 || got.Skipped != 1 || got.String() != "failed b\nfailed a\npassed c\nskipped f g\n" {
		t.Errorf("Parse = %+v", got)
	}
	if names := got.Names(tally.Failed); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("Names = %q, want them sorted", names)
	}
	worst := tally.Parse("passed a\nfailed a\nskipped a\nskipped b\npassed b\n")
	if worst.Of("a") != tally.Failed || worst.Of("b") != tally.Passed {
		t.Errorf("Of = %s, %s, want the worst", worst.Of("a"), worst.Of("b"))
	}
}

// Names do not contain the folder in which the check ran.
func TestRoots(t *testing.T) {
	for root, want := range map[string]string{"/project": "a.js > x", "/project/": "a.js > x", "": "/project/a.js > x", "/": "/project/a.js > x", "/other": "/project/a.js > x"} {
		r := &tally.Reader{Root: root}
		if _, err := io.WriteString(r, "1..1\nok 1 - /project/a.js > x\n"); err != nil {
			t.Fatal(err)
		}
		if got := r.Tally().Tests[0].Name; got != want {
			t.Errorf("in %q: %q, want %q", root, got, want)
		}
	}
}

// The reader skips a line that is too long, and reads the next one.
func TestLinesTooLong(t *testing.T) {
	r := &tally.Reader{}
	part := strings.Repeat("x", 1<<20)
	for range 17 {
		if _, err := io.WriteString(r, part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(r, "\nTAP version 13\nok 1 - a"+strings.Repeat("b", 70<<10)+"\nok 2 - c\n1..2\n"); err != nil {
		t.Fatal(err)
	}
	got := r.Tally()
	if len(got.Tests) != 2 || got.Tests[0] != (tally.Test{Name: "c", Outcome: tally.Passed}) || got.Tests[1].Outcome != tally.Broken {
		t.Errorf("tests %+v", got.Tests)
	}
}
