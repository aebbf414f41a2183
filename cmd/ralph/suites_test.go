package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// suiteRunner stands for jest and pytest: it runs the test files that it is asked for, or all, each as a script of sh. It
// counts its runs.
const suiteRunner = `#!/bin/sh
if [ "$1" = --runTestsByPath ]; then shift; fi
if [ $# = 0 ]; then
	set -- $(find . -name '*.test.js' -o -name 'test_*.py')
	echo whole
else
	echo some
fi >>COUNT
for file; do sh "$file" || exit 1; done
`

// suiteOf is a run whose suites are counted: of so many stories, each in a
// folder of its own.
type suiteOf struct {
	check, door string
	stories     int
	change      string // what is done to tests: new, added to
}

// test returns the name of a test file for the check.
func (c suiteOf) test(dir, name string) string {
	return dir + "/" + map[string]string{
		"jest": name + ".test.js", "pytest": "test_" + name + ".py",
		"sh check.sh": name + "_test.sh", "sh check-some.sh": name + "_test.sh", "make test": name + "_test.sh",
	}[c.check]
}

func (c suiteOf) project() falseReadyCase {
	trial := falseReadyCase{name: "suites", options: map[string][]string{"check": {c.check}, "entry": {c.door}, "env": {"SET_untested=off"}}}
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
	add("repo/.ralph/settings.json", `{"untested": "off"}`)
	add("repo/check.sh", "echo whole >>COUNT\nfor test in */*_test.sh; do sh \"$test\" || exit 1; done\n")
	add("repo/check-some.sh", "if [ \"$RALPH_TESTS\" ]; then echo some; else echo whole; fi >>COUNT\nfor test in ${RALPH_TESTS:-*/*_test.sh}; do sh \"$test\" || exit 1; done\n")
	add("repo/Makefile", "RALPH_TESTS ?= $(wildcard */*_test.sh)\ntest:\n\t@echo $(if $(filter environment,$(origin RALPH_TESTS)),some,whole) >>COUNT\n\tset -e; for test in $(RALPH_TESTS); do sh $$test; done\n")
	for _, name := range []string{"jest", "pytest"} {
		add("bin/"+name, suiteRunner)
	}
	return trial
}

// count runs it, and tells how often all tests ran and how often some, beyond the
// base. The journal has to tell of as many runs.
func (c suiteOf) count(t *testing.T) (ready bool, whole, some int) {
	t.Helper()
	trial, counter := c.project(), t.TempDir()+"/count"
	for i, file := range trial.files {
		trial.files[i].Data = []byte(strings.ReplaceAll(string(file.Data), "COUNT", counter))
	}
	g := newCaseProject(t, trial)
	ready, _ = g.run()
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

// toldRuns returns how many runs of checks the journal reports.
func (p *caseProject) toldRuns() (runs int) {
	p.t.Helper()
	base := p.journal().Base
	for _, entry := range p.entries() {
		runs += runsIn(entry.Event, base)
	}
	return runs
}

// runsIn returns how many runs of checks an event reports: those of a proof when it ends, and others one by one.
func runsIn(event journal.Event, base string) int {
	var runs journal.CheckRuns
	switch e := event.(type) { //nolint:gochecksumtype // others report none
	case journal.CheckEnded:
		if e.Where == journal.AtWork || e.Where == journal.AtBase && e.Commit == base {
			runs.Add(e)
		}
	case journal.ProofEnded:
		if !e.Reused {
			runs = e.CheckRuns
		}
	}
	return runs.Runs
}

// How often all tests run for a story that is proven, and how often some do:
// docs/dev/performance.md has the table.
func TestSuiteRunsOfAStory(t *testing.T) {
	for _, c := range []struct {
		suiteOf
		whole, some int
	}{
		{suiteOf{"jest", "", 1, "new"}, 1, 2},
		{suiteOf{"jest", "github", 3, "new"}, 4, 8},
		{suiteOf{"pytest", "github", 3, "added to"}, 4, 12},
		{suiteOf{"sh check.sh", "", 1, "new"}, 3, 0},
		{suiteOf{"sh check.sh", "github", 3, "added to"}, 16, 0},
		{suiteOf{"sh check-some.sh", "", 1, "new"}, 1, 2},
		{suiteOf{"make test", "", 1, "new"}, 1, 2},
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
