package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/proof/results"
)

// Stack frames and npm's advice hide why a command failed.
func TestEssential(t *testing.T) {
	for output, want := range map[string]string{
		"a\n\n b \n": "a\n b ",
		"AssertionError [ERR_ASSERTION]: 1 == 2\n    at Context.<anonymous> (test/a.js:5:10)\n    at process.processTicksAndRejections (node:internal/lib/process/task_queues:105:5)\n    at async file:///a.js:1:2\n": "AssertionError [ERR_ASSERTION]: 1 == 2",
		"npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when they are in sync\nnpm error\nnpm error Clean install a project\nnpm error\nnpm error Usage:\nnpm error npm ci\n" +
			"npm error\nnpm error Options:\nnpm error [--install-strategy <hoisted|nested>]\nnpm error aliases: clean-install, ic\nnpm error Run \"npm help ci\" for more info\n" +
			"npm error A complete log of this run can be found in: /h/.npm/_logs/x-debug-0.log\n": "npm error `npm ci` can only install packages when they are in sync",
		"    at a (b:1:2)\n": "    at a (b:1:2)",
		"not ok 1 - adds\n  ---\n  duration_ms: 1.2\n  location: '/w/a.test.js:2:1'\n  failureType: 'testCodeFailure'\n  error: |-\n    Expected:\n    \n    '1' !== '2'\n" +
			"  stack: |-\n    TestContext.<anonymous> (/w/a.test.js:2:25)\n    async Suite.run (node:internal/x:1:2)\n    node:internal/y:1:2\n": "not ok 1 - adds\n    Expected:\n    '1' !== '2'",
	} {
		if diff := cmp.Diff(want, strings.Join(results.Essential(output), "\n")); diff != "" {
			t.Errorf("Essential(%q):\n%s", output, diff)
		}
	}
}

func TestStatesFailure(t *testing.T) {
	for line, want := range map[string]bool{
		"--- FAIL: TestA (0.0s)":                               true,
		"not ok 2 - b":                                         true,
		"not ok 1 - a # TODO later":                            false,
		"E       assert 1 == 2":                                true,
		"      AssertionError [ERR_ASSERTION]: 1 == 2":         true,
		"AssertionError: 1 != 2":                               true,
		"java.lang.IllegalStateException: no":                  true,
		"thread 'main' panicked at src/lib.rs:5:9:":            true,
		"    expect(received).toBe(expected)":                  true,
		"npm error Missing: a@1":                               true,
		"FAIL":                                                 false,
		"    at Error: (a.js:1:2)":                             true,
		"0 errors: all is well":                                false,
		"    at Context.<anonymous> (test/a.js:5:10)":          false,
		"PASS  src/an-error.test.js":                           false,
		"Ran 2 tests in 0.001s":                                false,
		"FAILED (failures=1)":                                  false,
		"ok 1 - returns an Error for a name that is not there": false,
	} {
		if got := results.StatesFailure(line); got != want {
			t.Errorf("StatesFailure(%q) = %t", line, got)
		}
	}
}
