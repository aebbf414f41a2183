package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// suiteRunner stands for go, jest, vitest, pytest and runners that name no tests, by the name it has: it runs the
// test files that it is asked for, or all, each as a script of sh. It prints what
// that runner prints, and counts its runs.
const suiteRunner = `#!/bin/sh
me=${0##*/} whole=yes files= code=0 passed=0 failed=0
for arg; do
	case $arg in
	*.test.js | */test_*.py) whole= files="$files $arg" ;;
	*_spec.rb | *Test.php) whole= files="$files $arg" ;;
	-Dtest=* | tenTest) whole= files="$files $(find . -name "${arg#-Dtest=}.java")" ;;
	./...) ;;
	./*) whole= files="$files $(find "$arg" -maxdepth 1 -name '*_test.go' | sort)" ;;
	esac
done
if [ "$whole" ]; then
	files=$(find . -name '*.test.js' -o -name 'test_*.py' -o -name '*_test.go' -o -name '*_spec.rb' -o -name '*Test.java' -o -name '*Test.php' | sort | sed 's,^\./,,')
	echo whole
else
	echo some
fi >>COUNT
[ "$me" != pytest ] || echo '=== test session starts ===
=== short test summary info ==='
for file in $files; do
	name=$(basename "$file" | tr -cd a-z) dir=$(dirname "$file")
	if sh "$file"; then
		ok=yes passed=$((passed + 1))
	else
		ok= code=1 failed=$((failed + 1))
	fi
	case $me in
	go) echo "=== RUN   Test$name
--- ${ok:+PASS}${ok:-FAIL}: Test$name (0.00s)" | sed 's/PASSyes/PASS/'
		if [ "$ok" ]; then echo "ok  	example.com/${dir#./}	0.01s"; else echo "FAIL	example.com/${dir#./}	0.01s"; fi ;;
	jest) if [ "$ok" ]; then echo "PASS $file
  ✓ $name (1 ms)"; else echo "FAIL $file
  ✕ $name (1 ms)

  ● $name
"; fi ;;
	vitest) [ "$ok" ] || echo " FAIL  $file > $name" ;;
	pytest) if [ "$ok" ]; then echo "PASSED $file::$name"; else echo "FAILED $file::$name - AssertionError"; fi ;;
	esac
done
case $me in
jest) echo "Tests:       $failed failed, $passed passed, $((failed + passed)) total" ;;
vitest) echo "      Tests  $failed failed | $passed passed ($((failed + passed)))" ;;
pytest) echo "=== $failed failed, $passed passed in 0.01s ===" ;;
esac
exit $code
`

// suiteOf is a run whose suites are counted: of so many stories, each in a
// folder of its own.
type suiteOf struct {
	check, door string
	stories     int
	change      string // what is done to tests: new, added to, expects
}

// test returns the name of a test file for the check.
func (c suiteOf) test(dir, name string) string {
	return dir + "/" + map[string]string{
		"go test ./...": name + "_test.go", "jest": name + ".test.js", "vitest run": name + ".test.js", "pytest": "test_" + name + ".py",
		"rspec": name + "_spec.rb", "phpunit": name + "Test.php", "mvn -q test": name + "Test.java", "gradle test": name + "Test.java",
		"sh check.sh": name + "_test.sh", "sh check-some.sh": name + "_test.sh", "make test": name + "_test.sh",
	}[c.check]
}

func (c suiteOf) trial() trialOf {
	trial := trialOf{name: "suites", told: map[string][]string{"check": {c.check}, "door": {c.door}}}
	add := func(name, text string) { trial.files = append(trial.files, txtar.File{Name: name, Data: []byte(text)}) }
	asks := func(dir string, count, want int) string {
		return fmt.Sprintf("test \"$(sh %s/price.sh %d)\" = %d\n", dir, count, want)
	}
	issue := "Prices\n\n"
	for n := range c.stories + 1 {
		dir := fmt.Sprintf("part%d", n)
		add("repo/"+dir+"/price.sh", "echo $(($1 * 3))\n")
		add("repo/"+c.test(dir, "old"), asks(dir, 1, 3))
		if n == 0 {
			continue
		}
		issue += "- [ ] Ten or more cost 2 each in " + dir + "\n"
		at := fmt.Sprintf("agent/%d/", n)
		add(at+"write/"+dir+"/price.sh", "each=3\n[ \"$1\" -lt 10 ] || each=2\necho $(($1 * each))\n")
		switch c.change {
		case "new":
			add(at+"write/"+c.test(dir, "ten"), asks(dir, 10, 20))
		case "added to":
			add(at+"write/"+c.test(dir, "old"), asks(dir, 1, 3)+asks(dir, 10, 20))
			add(at+"write/"+c.test(dir, "ten"), asks(dir, 11, 22))
		}
		add(at+"claim", fmt.Sprintf("US-%03d: done\n", n))
		add(at+"commit", "feat: the price of ten in "+dir+"\n")
	}
	add("issue.md", issue)
	add("repo/check.sh", "echo whole >>COUNT\nfor test in */*_test.sh; do sh \"$test\" || exit 1; done\n")
	add("repo/check-some.sh", "if [ \"$RALPH_TESTS\" ]; then echo some; else echo whole; fi >>COUNT\nfor test in ${RALPH_TESTS:-*/*_test.sh}; do sh \"$test\" || exit 1; done\n")
	add("repo/Makefile", "RALPH_TESTS ?= $(wildcard */*_test.sh)\ntest:\n\t@echo $(if $(filter environment,$(origin RALPH_TESTS)),some,whole) >>COUNT\n\tset -e; for test in $(RALPH_TESTS); do sh $$test; done\n")
	for _, name := range []string{"go", "jest", "vitest", "pytest", "rspec", "phpunit", "mvn", "gradle"} {
		add("bin/"+name, suiteRunner)
	}
	return trial
}

// count runs it, and tells how often all tests ran and how often some, beyond the
// base. The journal has to tell of as many runs.
func (c suiteOf) count(t *testing.T) (ready bool, whole, some int) {
	t.Helper()
	trial, counter := c.trial(), t.TempDir()+"/count"
	for i, file := range trial.files {
		trial.files[i].Data = []byte(strings.ReplaceAll(string(file.Data), "COUNT", counter))
	}
	g := newGround(t, trial, "report")
	if c.door == "github" {
		ready, _ = g.onGitHub()
	} else {
		ready, _ = g.onLaptop()
	}
	runs, err := os.ReadFile(counter)
	g.must(err)
	if !ready {
		t.Log(g.text())
	}
	if told, ran := g.toldRuns(), strings.Count(string(runs), "\n"); told != ran {
		t.Errorf("the journal tells of %d runs, want %d", told, ran)
	}
	return ready, strings.Count(string(runs), "whole\n") - 1, strings.Count(string(runs), "some\n")
}

// toldRuns returns how many runs of checks the journal tells of.
func (g *groundOf) toldRuns() int {
	g.t.Helper()
	var told journal.CheckRuns
	for _, dir := range []string{"repo", "workspace"} {
		paths, _ := filepath.Glob(g.path(dir, ".ralph", "runs", "*", "journal.jsonl"))
		for _, path := range paths {
			data, err := os.ReadFile(path)
			g.must(err)
			entries, _, err := journal.Replay(data)
			g.must(err)
			for _, entry := range entries {
				told.Add(entry.Event)
			}
		}
	}
	return told.Runs
}

// How often all tests run for a story that is proven, and how often some do:
// docs/dev/performance.md has the table.
func TestSuiteRunsOfAStory(t *testing.T) {
	for _, c := range []struct {
		suiteOf
		whole, some int
	}{
		{suiteOf{"go test ./...", "", 1, "new"}, 1, 2},
		{suiteOf{"go test ./...", "", 3, "added to"}, 3, 12},
		{suiteOf{"go test ./...", "github", 3, "new"}, 3, 6},
		{suiteOf{"jest", "", 3, "new"}, 3, 3},
		{suiteOf{"jest", "github", 3, "added to"}, 3, 12},
		{suiteOf{"vitest run", "", 1, "new"}, 1, 1},
		{suiteOf{"vitest run", "github", 3, "added to"}, 3, 9},
		{suiteOf{"pytest", "", 1, "new"}, 2, 2},
		{suiteOf{"pytest", "github", 3, "added to"}, 6, 12},
		{suiteOf{"sh check.sh", "", 1, "new"}, 4, 0},
		{suiteOf{"sh check.sh", "github", 3, "new"}, 14, 0},
		{suiteOf{"sh check-some.sh", "", 1, "new"}, 2, 3},
		{suiteOf{"sh check-some.sh", "github", 3, "added to"}, 6, 12},
		{suiteOf{"make test", "", 1, "new"}, 2, 3},
		{suiteOf{"rspec", "", 1, "new"}, 2, 3},
		{suiteOf{"phpunit", "", 1, "new"}, 2, 3},
		{suiteOf{"mvn -q test", "", 1, "new"}, 2, 3},
		{suiteOf{"gradle test", "", 1, "new"}, 2, 3},
	} {
		name := fmt.Sprintf("%s/%s/%d %s", c.check, c.door, c.stories, c.change)
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready, whole, some := c.count(t)
			if !ready || whole != c.whole || some != c.some {
				t.Errorf("%+v: ready %t after %d whole and %d other runs, want %d and %d", c.suiteOf, ready, whole, some, c.whole, c.some)
			}
		})
	}
}
