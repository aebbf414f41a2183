package tally_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each reader handles lines that no recording in testdata has.
func TestLines(t *testing.T) {
	jest := func(lines string) string { return lines + "\nTests:       1 failed, 1 passed, 2 total\n" }
	for name, test := range map[string]struct{ output, want string }{
		"go: a crash after a failed test": {
			"--- FAIL: TestA (0.00s)\npanic: boom\nFAIL\tp\t0.1s\n", "go: 0 passed, 1 failed, 0 skipped\nfailed p.TestA\nbroken p\n",
		},
		"go: a fatal error, and a signal": {
			"--- FAIL: TestA (0.00s)\nfatal error: all goroutines are asleep\nFAIL\tp\t0.1s\n--- FAIL: TestB (0.00s)\nsignal: killed\nFAIL\tq\t0.1s\n",
			"go: 0 passed, 2 failed, 0 skipped\nfailed p.TestA\nbroken p\nfailed q.TestB\nbroken q\n",
		},
		"go: an unusual exit code": {
			"--- FAIL: TestA (0.00s)\nexit status 3\nFAIL\tp\t0.1s\n", "go: 0 passed, 1 failed, 0 skipped\nfailed p.TestA\nbroken p\n",
		},
		"go: the usual exit code": {
			"--- FAIL: TestA (0.00s)\nexit status 1\nFAIL\tp\t0.1s\n", "go: 0 passed, 1 failed, 0 skipped\nfailed p.TestA\n",
		},
		"go: a failure belongs to one package only": {
			"--- FAIL: TestA (0.00s)\npanic: boom\nFAIL\tp\t0.1s\nFAIL\tq\t0.1s\nok  \tr\t0.1s\n",
			"go: 1 passed, 1 failed, 0 skipped\nfailed p.TestA\nbroken p\nbroken q\nbroken q did not end\npassed r\n",
		},
		"go: a build failure leaves pending tests to the next package": {
			"--- PASS: TestA (0.00s)\nFAIL\tp [build failed]\nok  \tq\t0.1s\n", "go: 1 passed, 0 failed, 0 skipped\nbroken p\npassed q.TestA\n",
		},
		"go: a test that ran and said nothing": {
			"=== RUN   TestA\nok  \tp\t0.1s\n", "go: 0 passed, 0 failed, 0 skipped\nbroken p did not end\n",
		},
		"go: a case ends the process": {
			"=== RUN   TestA\n=== RUN   TestA/x\n    --- PASS: TestA/x (0.00s)\nok  \tp\t0.1s\n", "go: 1 passed, 0 failed, 0 skipped\npassed p.TestA/x\nbroken p did not end\n",
		},
		"go: a test prints no end of its line": {
			"=== RUN   TestA\nhello--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", "go: 1 passed, 0 failed, 0 skipped\npassed p.TestA\n",
		},
		"go: a test prints the line of another": {
			"=== RUN   TestA\n=== RUN   TestB\nx--- PASS: TestC (0.00s)\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n", "go: 1 passed, 0 failed, 0 skipped\npassed p.TestA\n",
		},
		"go: a test that ends the process": {
			"=== RUN   TestA\n=== RUN   TestA/x\nexit status 1\nFAIL\tp\t0.1s\n", "go: 0 passed, 1 failed, 0 skipped\nfailed p.TestA/x\nbroken p\n",
		},
		"jest: a worker that crashed": {
			jest("FAIL src/a.test.js\n  ● Test suite failed to run\n\n    A jest worker process (pid=1) crashed for an unknown reason: exitCode=1\n"),
			"jest: 1 passed, 1 failed, 0 skipped\nbroken src/a.test.js\nbroken src/a.test.js did not end\n",
		},
		"jest: a worker that crashed each time": {
			jest("FAIL src/a.test.js\n  ● Test suite failed to run\n\n    Jest worker encountered 4 child process exceptions, exceeding retry limit\n"),
			"jest: 1 passed, 1 failed, 0 skipped\nbroken src/a.test.js\nbroken src/a.test.js did not end\n",
		},
		"go: nothing to run": {"ok  \tp\t0.1s [no tests to run]\n", "go: 0 passed, 0 failed, 0 skipped\n"},
		"go: a package that never ended, and nothing failed": {
			"--- PASS: TestA (0.00s)\n", ": 0 passed, 0 failed, 0 skipped\n",
		},
		"jest: a summary repeats a failure": {
			jest("FAIL src/a.test.js\n  ● cart › adds\nSummary of all failing tests\nFAIL src/a.test.js\n  ● cart › adds\n"),
			"jest: 1 passed, 1 failed, 0 skipped\nfailed src/a.test.js > cart > adds\n",
		},
		"jest: console output is not a test": {
			jest("FAIL src/a.test.js\n  ● Console\n  ● cart › adds\n"), "jest: 1 passed, 1 failed, 0 skipped\nfailed src/a.test.js > cart > adds\n",
		},
		"jest: a file that cannot be loaded": {
			jest("FAIL src/a.test.js\n  ● Test suite failed to run\n"), "jest: 1 passed, 1 failed, 0 skipped\nbroken src/a.test.js\n",
		},
		"jest: a list ends with its report": {
			jest("PASS src/a.test.js (1.2 s)\n  cart\n    ✓ adds (3 ms)\n    ○ skipped removes\n\n  ● report\n    ✓ is no test\n"),
			"jest: 1 passed, 1 failed, 1 skipped\npassed src/a.test.js > cart > adds\nskipped src/a.test.js > cart > removes\nfailed src/a.test.js > report\n",
		},
		"jest: a line at the margin ends a list": {
			jest("PASS src/a.test.js\n  √ adds\nelsewhere\n  ✓ is no test\n"), "jest: 1 passed, 1 failed, 0 skipped, output cut\npassed src/a.test.js > adds\n",
		},
		"jest: a tick without a file": {jest("  ✓ is no test\n"), "jest: 1 passed, 1 failed, 0 skipped, output cut\n"},
		"vitest: files without tests": {
			" FAIL  src/a.test.js [ src/a.test.js ]\n\n Test Files  1 failed (1)\n", "vitest: 0 passed, 0 failed, 0 skipped\nbroken src/a.test.js\n",
		},
		"vitest: a test whose name has a bracket": {
			" FAIL  src/a.test.js > adds [ one ]\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n",
			"vitest: 0 passed, 1 failed, 0 skipped\nfailed src/a.test.js > adds [ one ]\n",
		},
		"vitest: an old tick, and a skipped test": {
			" √ src/a.test.js > adds 3ms\n ↓ src/a.test.js > removes\n\n      Tests  1 passed | 1 skipped (2)\n",
			"vitest: 1 passed, 0 failed, 1 skipped\npassed src/a.test.js > adds\nskipped src/a.test.js > removes\n",
		},
		"a count with 10 digits": {"\n  1234567890 passing (1s)\n", ": 0 passed, 0 failed, 0 skipped\n"},
		"mocha: names on several lines, and similar lines": {
			"  cart\n    ✔ adds (12ms)\n    - removes\n\n  1 passing (9ms)\n  1 pending\n  1 failing\n\n  1) cart\n       pays:\n     Error: no\n      at x:1\n\n  no name:\n",
			"mocha: 1 passed, 1 failed, 1 skipped\npassed cart > adds\nskipped cart > removes\nfailed cart > pays\n",
		},
		"mocha: a name without an end": {
			"  1 passing (9ms)\n  1 failing\n\n  1) cart\n\n       pays:\n", "mocha: 1 passed, 1 failed, 0 skipped, output cut\n",
		},
		"cargo: two programs, and one that did not end": {
			"     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\nrunning 1 test\ntest adds ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n" +
				"   Doc-tests shop\nrunning 2 tests\ntest src/lib.rs - pays (line 3) ... FAILED\n",
			"cargo: 1 passed, 1 failed, 0 skipped\npassed shop src/lib.rs adds\nfailed doc shop src/lib.rs - pays\nbroken doc shop did not end\n",
		},
		"cargo: two examples of one item": {
			"   Doc-tests shop\nrunning 3 tests\ntest src/lib.rs - pays (line 9) - compile ... ok\ntest src/lib.rs - pays (line 17) ... FAILED\ntest src/lib.rs - pays (line 3) ... ok\n\nfailures:\n    src/lib.rs - pays (line 17)\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored;\n",
			"cargo: 2 passed, 1 failed, 0 skipped\npassed doc shop src/lib.rs - pays\nfailed doc shop src/lib.rs - pays (2)\npassed doc shop src/lib.rs - pays - compile\n",
		},
		"cargo: the list of failures at the end": {
			"     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\nrunning 2 tests\nfailures:\n    adds\n    pays\n\ntest result: FAILED. 0 passed; 2 failed; 0 ignored;\nfailures:\n    no test\n",
			"cargo: 0 passed, 2 failed, 0 skipped\nfailed a tests/a.rs adds\nfailed a tests/a.rs pays\n",
		},
		"lines that only look like a runner's": {
			"ok  \t\nFAIL\t\nFAIL \nPASS \n  ● \n FAIL \n FAIL  \n Tests  \n Test Files  \n a > b\nVitest caught up\nrunning  tests\n Running x\n Doc-tests \ntest x\ntest result: \n" +
				"--- x\nRan x\n[gw0]\n%]\n!!!\nJest: x\nx threshold\n= test session\n 1 passing (\n 1 failing\nok  \t \n{\"\"Action\":\"\n{\"Action\":\"pass\",\"Package\":\"p\",\n",
			": 0 passed, 0 failed, 0 skipped\n",
		},
		"jest: coverage below its threshold": {
			jest("FAIL src/a.test.js\n  ● adds\n") + "Jest: \"global\" coverage threshold for lines (90%) not met: 80%\n",
			"jest: 1 passed, 1 failed, 0 skipped\nfailed src/a.test.js > adds\nbroken Jest: \"global\" coverage\n",
		},
		"jest: tests in neighbouring groups": {
			jest("PASS src/a.test.js\n  ✓ adds\n  ✓ removes\nFAIL src/b.test.js\n  ● pays\n"),
			"jest: 2 passed, 1 failed, 0 skipped\npassed src/a.test.js > adds\npassed src/a.test.js > removes\nfailed src/b.test.js > pays\n",
		},
		"cargo: a program after an unfinished one": {
			"     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\nrunning 1 test\n     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\nrunning 1 test\nrunning 0 tests\n   Doc-tests shop\n",
			"cargo: 0 passed, 0 failed, 0 skipped\nbroken shop src/lib.rs did not end\nbroken a tests/a.rs did not end\nbroken a tests/a.rs did not end (2)\n",
		},
		"node: directives and totals": {
			"▶ cart\n  ✔ adds (1.2ms)\n  ﹣ removes (0.1ms) # SKIP\n  ⚠ pays (0.1ms)\n▶ cart (2ms)\n✖ orders (0.5ms)\nℹ pass 3\nℹ fail 1\nℹ skipped 2\n✖ orders (0.5ms)\n",
			"node: 3 passed, 1 failed, 2 skipped\npassed cart > adds\nskipped cart > removes\nskipped cart > pays\nfailed orders\n",
		},
		"node: a file that ended early, and one that cannot be loaded": {
			"✖ /a.test.js (2ms)\n  'test failed'\n\nNode.js v20.20.2\n✖ /b.test.js (2ms)\n  'test failed'\n\nℹ pass 0\nℹ fail 2\n  'test failed'\n",
			"node: 0 passed, 2 failed, 0 skipped\nfailed /a.test.js\nbroken /a.test.js did not end\nfailed /b.test.js\n",
		},
		"tap: a file of node that ended early, and one that cannot be loaded": {
			"TAP version 13\nnot ok 1 - /a.test.js\n  ---\n  exitCode: 1\n  ...\n# Node.js v20.20.2\nnot ok 2 - /b.test.js\n  ---\n  exitCode: 1\n  ...\n1..2\n",
			"tap: 0 passed, 2 failed, 0 skipped\nfailed /a.test.js\nbroken /a.test.js did not end\nfailed /b.test.js\n",
		},
		"pytest: an internal error and a collection error": {
			"============ test session starts ============\nINTERNALERROR> Traceback\nINTERNALERROR> more\n!!!!!!! Interrupted: 2 errors during collection !!!!!!!\n!!!!!!! KeyboardInterrupt !!!!!!!\n=== 2 errors in 0.1s ===\n",
			"pytest: 0 passed, 0 failed, 0 skipped\nbroken an internal error of pytest\nbroken KeyboardInterrupt\n",
		},
		"pytest: coverage above its threshold": {
			"============ test session starts ============\nRequired test coverage of 90% reached. Total coverage: 95%\n=== 1 passed in 0.1s ===\n", "pytest: 1 passed, 0 failed, 0 skipped\n",
		},
		"pytest: a time within words": {
			"============ test session starts ============\n= 1 ran in circles\n", "pytest: 0 passed, 0 failed, 0 skipped\nbroken a session that did not end\n",
		},
	} {
		if diff := cmp.Diff(test.want, summarize(read(t, test.output))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A name has at most 50 components.
func TestDeepNames(t *testing.T) {
	var tap strings.Builder
	tap.WriteString("TAP version 13\n")
	for i := range 60 {
		tap.WriteString(strings.Repeat(" ", i) + "# Subtest: a\n")
	}
	tap.WriteString(strings.Repeat(" ", 60) + "ok 1 - a\n1..1\nok 1 - a\n")
	got := read(t, tap.String())
	if n := strings.Count(got.Tests[0].Name, " > "); n != 49 {
		t.Errorf("a test in 60 groups has the names of %d groups", n)
	}
}
