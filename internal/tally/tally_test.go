package tally_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/tally"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// read returns the tally of an output of a check that ran in /project.
func read(t *testing.T, output string) tally.Tally {
	t.Helper()
	r := &tally.Reader{Root: "/project"}
	if _, err := io.WriteString(r, output); err != nil {
		t.Fatal(err)
	}
	return r.Tally()
}

func summarize(got tally.Tally) string {
	text := fmt.Sprintf("%s: %d passed, %d failed, %d skipped", strings.Join(got.Runners, ", "), got.Passed, got.Failed, got.Skipped)
	if got.Cut {
		text += ", output cut"
	}
	return text + "\n" + got.String()
}

// Each file in testdata has the output of a real runner, and its tally.
func TestRunners(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d recordings: %v", len(names), err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got := summarize(read(t, string(archive.Files[0].Data)))
		if *update {
			archive.Files[1].Data = []byte(got)
			if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
			t.Errorf("%s: %s(-want +got):\n%s", name, archive.Comment, diff)
		}
	}
}

// An output gives the same tally whole and in pieces.
func TestPieces(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/vitest-verbose.txtar")
	if err != nil {
		t.Fatal(err)
	}
	output := archive.Files[0].Data
	for _, size := range []int{1, 7, 4096} {
		r := &tally.Reader{Root: "/project"}
		for at := 0; at < len(output); at += size {
			if n, err := r.Write(output[at:min(at+size, len(output))]); err != nil || n == 0 {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		if diff := cmp.Diff(summarize(read(t, string(output))), summarize(r.Tally())); diff != "" {
			t.Errorf("in pieces of %d (-whole +pieces):\n%s", size, diff)
		}
	}
}

func TestOddOutputs(t *testing.T) {
	for name, test := range map[string]struct{ output, want string }{
		"none":               {"", ": 0 passed, 0 failed, 0 skipped\n"},
		"prose":              {"all is ok\nok then\nFAILED to care\n1 passed\n", ": 0 passed, 0 failed, 0 skipped\n"},
		"one name twice":     {"1..3\nok 1 - a\nnot ok 2 - a\nnot ok 3 - a\n", "tap: 1 passed, 2 failed, 0 skipped\npassed a\nfailed a\nfailed a (2)\n"},
		"no description":     {"1..1\nnot ok\n", "tap: 0 passed, 1 failed, 0 skipped\nfailed test\n"},
		"fewer than planned": {"1..3\nok 1 - a\n", "tap: 1 passed, 0 failed, 0 skipped\npassed a\nbroken 2 planned tests that did not run\n"},
		"bailed out":         {"TAP version 14\nok 1 - a\nBail out! no disk\n", "tap: 1 passed, 0 failed, 0 skipped\npassed a\nbroken Bail out! no disk\n"},
		"todo and skip":      {"1..2\nnot ok 1 - a # TODO later\nok 2 - b # skip why\n", "tap: 0 passed, 0 failed, 2 skipped\nskipped a\nskipped b\n"},
		"escaped hash":       {"1..1\nok 1 - a \\# todo\n", "tap: 1 passed, 0 failed, 0 skipped\npassed a # todo\n"},
		"points in yaml":     {"1..1\nok 1 - a\n  ---\n  not ok 2 - b\n  ...\n", "tap: 1 passed, 0 failed, 0 skipped\npassed a\n"},
		"yaml that does not end": {
			"1..2\nok 1 - a\n  ---\n  x: y\nnot ok 2 - b\n", "tap: 1 passed, 1 failed, 0 skipped\npassed a\nfailed b\n",
		},
		"a parent that failed by itself": {
			"--- FAIL: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\nFAIL\nFAIL\tp\t0.1s\n", "go: 1 passed, 1 failed, 0 skipped\nfailed p.TestA\npassed p.TestA/x\n",
		},
		"go without its package": {"--- FAIL: TestA (0.00s)\n", "go: 0 passed, 1 failed, 0 skipped\nfailed TestA\nbroken a package that did not end\n"},
		"go with nothing to run": {"ok  \tp\t0.1s [no tests to run]\n?   \tq\t[no test files]\n", "go: 0 passed, 0 failed, 0 skipped\n"},
		"go twice":               {"--- FAIL: TestA (0.00s)\n--- FAIL: TestA (0.00s)\nFAIL\tp\t0.1s\n", "go: 0 passed, 2 failed, 0 skipped\nfailed p.TestA\nfailed p.TestA (2)\n"},
		"go killed":              {"--- FAIL: TestA (0.00s)\nsignal: killed\nFAIL\tp\t9.1s\n", "go: 0 passed, 1 failed, 0 skipped\nfailed p.TestA\nbroken p\n"},
		"go vet":                 {"# p\nvet: ./a.go:1:1: no\nFAIL\tp [build failed]\nok  \tq\t0.1s\n", "go: 1 passed, 0 failed, 0 skipped\nbroken p\npassed q\n"},
		"pytest names fewer than it counts": {
			"===== test session starts =====\n==== 2 failed, 3 passed in 0.1s ====\n", "pytest: 3 passed, 2 failed, 0 skipped, output cut\n",
		},
		"pytest that died":                 {"===== test session starts =====\na.py::b FAILED [ 50%]\nSegmentation fault\n", "pytest: 0 passed, 1 failed, 0 skipped\nfailed a.py::b\nbroken a session that did not end\n"},
		"pytest with xdist":                {"===== test session starts =====\n[gw0] [ 50%] PASSED a.py::b \n[gw1] [100%] FAILED a.py::c \n= 1 failed, 1 passed in 1.2s =\n", "pytest: 1 passed, 1 failed, 0 skipped\npassed a.py::b\nfailed a.py::c\n"},
		"coverage of pytest":               {"===== test session starts =====\nFAIL Required test coverage of 90% not reached. Total coverage: 1%\n= 1 passed in 1.2s =\n", "pytest: 1 passed, 0 failed, 0 skipped\nbroken the required coverage\n"},
		"coverage of jest":                 {"Jest: \"global\" coverage threshold for lines (90%) not met: 1%\nTests:       1 passed, 1 total\n", "jest: 1 passed, 0 failed, 0 skipped\nbroken Jest: \"global\" coverage\n"},
		"vitest unhandled":                 {"Vitest caught 1 unhandled error during the test run.\n      Tests  1 passed (1)\n", "vitest: 1 passed, 0 failed, 0 skipped\nbroken an unhandled error\n"},
		"cargo that died":                  {"     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 2 tests\ntest x ... ok\nerror: test failed\n", "cargo: 1 passed, 0 failed, 0 skipped\npassed a tests/a.rs x\nbroken a tests/a.rs did not end\n"},
		"unittest cannot load":             {strings.Repeat("=", 70) + "\nERROR: test_a (unittest.loader._FailedTest.test_a)\nRan 1 test in 0.000s\n\nFAILED (errors=1)\n", "unittest: 0 passed, 1 failed, 0 skipped\nbroken test_a (unittest.loader._FailedTest.test_a)\n"},
		"cargo names fewer than it counts": {"running 1 test\ntest a ... FAILED\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured\n", "cargo: 0 passed, 2 failed, 0 skipped, output cut\nfailed a\n"},
		"cargo without capture": {
			"running 1 test\ntest a ... hello\nFAILED\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n", "cargo: 0 passed, 1 failed, 0 skipped\nfailed a\n",
		},
		"other JSON":  {"{\n \"stats\": 3\n}\n{\"num\": 1}\n{\"Action\":\"fail\"}\n", ": 0 passed, 0 failed, 0 skipped\n"},
		"two runners": {"ok  \tp\t0.1s\n1..1\nnot ok 1 - a\n", "go, tap: 1 passed, 1 failed, 0 skipped\npassed p\nfailed a\n"},
	} {
		if diff := cmp.Diff(test.want, summarize(read(t, test.output))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of what passed, packages of Go without the name of a test are counted apart.
func TestPackages(t *testing.T) {
	got := read(t, "ok  \tp\t0.1s\nok  \tq\t0.1s\n--- PASS: TestA (0.00s)\nok  \tr\t0.1s\n")
	if got.Passed != 3 || got.Packages != 2 {
		t.Errorf("%d passed, %d of them packages; want 3 and 2", got.Passed, got.Packages)
	}
}

func TestOf(t *testing.T) {
	now := tally.Parse("failed a\npassed b\nfailed d\nfailed e\nbroken p\nskipped c\n")
	for name, want := range map[string]tally.Outcome{"a": tally.Failed, "b": tally.Passed, "p": tally.Broken, "x": tally.Absent} {
		if got := now.Of(name); got != want {
			t.Errorf("Of(%s) = %q, want %q", name, got, want)
		}
	}
}
