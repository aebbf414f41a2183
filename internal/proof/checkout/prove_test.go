package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// checks.sh runs each test of a folder, and reports it.
const checks = `mkdir -p tests && cat >check.sh <<'END'
bad=0
for t in tests/*_test.sh; do
	if sh $t; then r=; else r='<failure/>'; bad=1; fi
	cases="$cases<testcase name=\"$(basename $t _test.sh)\">$r</testcase>"
done
echo "<testsuite>$cases</testsuite>" >"$RALPH_REPORTS/tests.xml"
exit $bad
END
echo 'echo 1' >one.sh && echo 'test "$(sh one.sh)" = 1' >tests/one_test.sh && `

// Real commits, proven by the two rules.
func TestProve(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		want   journal.Result
		why    string
		tests  string
	}{
		"a feature with its test": {
			change: `echo 'echo 2' >two.sh && echo 'test "$(sh two.sh)" = 2' >tests/two_test.sh`, want: journal.Proven, tests: "two",
		},
		"a refactoring": {change: `echo 'printf "1\n"' >one.sh`, want: journal.NoNewFailingTest, why: "no test is added or changed"},
		"a broken test": {change: `echo 'echo 2' >one.sh`, want: journal.Failed, why: "sh check.sh failed (exit 1): one"},
		"a changed test": {
			change: `echo 'echo 2' >one.sh && echo 'test "$(sh one.sh)" = 2' >tests/one_test.sh`, want: journal.NeedsReview,
			why: "the tests of the base fail on the new code: sh check.sh failed (exit 1): one",
		},
		"a deleted test": {
			change: `echo 'echo 2' >one.sh && rm tests/one_test.sh && echo true >tests/other_test.sh`, want: journal.NeedsReview,
			why: "the tests of the base fail on the new code: sh check.sh failed (exit 1): one",
		},
		"a moved test": {change: `mv tests/one_test.sh tests/first_test.sh && echo 'printf "1\n"' >one.sh`, want: journal.NoNewFailingTest, why: "the new tests pass without the change"},
		"a check that does nothing": {
			change: `echo 'echo 2' >one.sh && echo 'exit 0' >check.sh`, want: journal.NeedsReview, why: "the checks pass only with changed check files: check.sh",
		},
		"a check that was tidied": {change: `echo '# tidy' >>check.sh && echo 'echo 2' >two.sh && echo 'test "$(sh two.sh)" = 2' >tests/two_test.sh`, want: journal.Proven, tests: "two"},
		"documents":               {change: `echo text >README.md`, want: journal.DocumentsOnly, why: "only documents are changed"},
		"a document in a folder":  {change: `mkdir notes && echo text >notes/a.txt`, want: journal.DocumentsOnly, why: "only documents are changed"},
		"text that code reads":    {change: `echo text >a.txt && echo 'cat a.txt >/dev/null; echo 1' >one.sh`, want: journal.NoNewFailingTest, why: "no test is added or changed"},
		"tests":                   {change: `echo true >tests/more_test.sh`, want: journal.TestsOnly, why: "only tests are changed"},
		"a manifest": {
			change: `printf '{"scripts":{"postinstall":"true"}}' >package.json && echo 'printf "1\n"' >one.sh`, want: journal.NeedsReview,
			why: "package.json: it may change what the checks do: scripts.postinstall",
		},
	} {
		t.Run(name, func(t *testing.T) {
			trusted, commits := repository(t, checks+`echo '{}' >package.json && commit && `+c.change+" && commit")
			p := proving{trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "sh check.sh", setup: "true", env: os.Environ(), runs: "none"}
			_, got := p.prove(t)
			if got.Result != c.want || got.Why != c.why || strings.Join(got.Tests, " ") != c.tests {
				t.Errorf("%s by %q: %s, want %s by %q: %s", got.Result, got.Tests, got.Why, c.want, c.tests, c.why)
			}
		})
	}
}

// All runs of a proof happen at one path. What setup makes from manifests is kept between them; if it makes something else,
// it runs in every checkout.
func TestSetupIsKept(t *testing.T) {
	change := `&& commit && echo 'echo 2' >two.sh && echo 'test "$(sh two.sh)" = 2' >tests/two_test.sh && commit`
	for setup, want := range map[string]int{
		"mkdir -p node_modules && pwd >node_modules/place":                   1,
		"mkdir -p node_modules dist && pwd >node_modules/place; pwd >dist/a": 3,
		"true": 3,
	} {
		trusted, commits := repository(t, checks+"echo '{}' >package.json && printf 'node_modules\ndist\n' >.gitignore "+change)
		runs := filepath.Join(t.TempDir(), "runs")
		p := proving{
			trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, env: os.Environ(), runs: runs, setup: "echo run >>" + runs + "; " + setup,
			check: `if test -e node_modules; then test "$(cat node_modules/place)" = "$(pwd)" || exit 9; fi; sh check.sh`,
		}
		got, outcome := p.prove(t)
		if got != want || outcome.Result != journal.Proven {
			t.Errorf("%s: setup ran %d times, want %d: %s %s", setup, got, want, outcome.Result, outcome.Why)
		}
	}
}

// All places are tried in one checkout, in which only ignored files stay, such as those of a compiler. What no test
// needs is confirmed on a clean one.
func TestPlacesShareACheckout(t *testing.T) {
	trusted, commits := repository(t, checks+`echo ignored >.gitignore && commit
for n in two four; do echo "echo $n" >$n.sh; echo "test \$(sh $n.sh) = $n" >tests/${n}_test.sh; done
echo 'echo three' >three.sh && commit`)
	runs := filepath.Join(t.TempDir(), "runs")
	p := proving{
		trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, env: os.Environ(), runs: runs, places: 9,
		setup: "mkdir node_modules && echo >node_modules/a",
		check: "test -e node_modules/a && ! test -e stray && touch stray && echo x >>ignored && wc -l <ignored >>" + runs + " && sh check.sh",
	}
	_, got := p.prove(t)
	if got.Tried.ByTest != 2 || len(got.Untested) != 1 || got.Untested[0].File != "three.sh" {
		t.Errorf("%s %s: no test needs %v, tried %+v", got.Result, got.Why, got.Untested, got.Tried)
	}
	text, err := os.ReadFile(runs)
	if err != nil || strings.Join(strings.Fields(string(text)), " ") != "1 1 1 1 2 3 1" {
		t.Errorf("runs in each checkout: %q (%v), want one but for the places, and one to confirm", text, err)
	}
}

// A module of tests in a file of Rust is a test of its own: each side is tried with the tests of the other.
func TestRustModules(t *testing.T) {
	check := `cat >check.sh <<'END'
grep -q 'fn b' src/lib.rs; has=$?
grep -q 'calls b' src/lib.rs && test $has != 0 && exit 1
exit 0
END
`
	file := func(code, tests string) string {
		return "cat >src/lib.rs <<'END'\n" + code + "\n#[cfg(test)]\nmod tests {\n    " + tests + "\n}\nEND\n"
	}
	trusted, commits := repository(t, "mkdir src; "+check+file("fn a() {}", "calls a")+"commit\n"+file("fn a() {}\nfn b() {}", "calls b")+"commit")
	p := proving{trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "sh check.sh", setup: "true", env: os.Environ(), runs: "none"}
	if _, got := p.prove(t); got.Result != journal.Proven {
		t.Errorf("%s: %s, want that the new module fails on the base's code", got.Result, got.Why)
	}
}

// An outcome as people read it.
func TestText(t *testing.T) {
	outcome := checkout.Outcome{
		Base: "b", Head: "h", Result: journal.Proven, Tests: []string{"TestA"}, Look: []journal.Look{{Kind: "skipped", File: "a_test.go", Why: "a test is skipped"}},
		Untested: []journal.Lines{{File: "a.go", From: 10, To: 14}}, Tried: journal.Tried{ByTest: 9, ByBuild: 7, Left: 3},
		Checks: []checkout.Checked{{Name: "test", AtBase: true, Passed: true, Tests: &journal.Tests{Passed: 2}}},
	}
	want := `b..h: Proven
  check test: passed at the base, passed (tests passed: 2) with the change
  fails without the change: TestA
  9 places needed by a test, 7 only by the build, 1 by nothing: a.go:10-14; 3 not tried
  look at a_test.go: a test is skipped
`
	if got := outcome.Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
