package tally

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// goTest reads go test and go test -v, which print a package's name after its tests.
type goTest struct {
	results

	pending []Test // tests of the package whose name is still to come
	failing bool
	crashed bool
	testing bool
	ended   bool            // the test program said so itself
	begun   map[string]bool // and did not end yet
}

var (
	goResult  = pattern.Of(`^(.*)--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$`)
	goPackage = pattern.Of(`^(ok  |FAIL)\t(\S+)(?:\t| )(.*)$`)
)

func (g *goTest) line(text string) {
	switch {
	case strings.Contains(text, "--- "):
		m := goResult.FindStringSubmatch(text)
		if m != nil && (g.begun[m[3]] || strings.Trim(m[1], " ") == "") { // also behind what the test printed
			delete(g.begun, m[3])
			g.test(m[3], map[string]Outcome{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped}[m[2]])
		}
	case text == "PASS":
		g.ended = true
	case strings.HasPrefix(text, "=== RUN "):
		g.testing = true
		if g.begun == nil {
			g.begun = map[string]bool{}
		}
		if len(g.begun) < maxTests {
			g.begun[strings.TrimSpace(strings.TrimPrefix(text, "=== RUN "))] = true
		}
	case isCrash(text):
		g.crashed = true
	case strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "FAIL\t"):
		if m := goPackage.FindStringSubmatch(text); m != nil {
			g.packageEnd(m[2], m[1] != "FAIL", m[3])
		}
	}
}

func (g *goTest) test(name string, outcome Outcome) {
	g.testing = true
	g.failing = g.failing || outcome == Failed
	if len(g.pending) < 2*maxTests {
		g.pending = append(g.pending, Test{name, outcome})
	} else {
		g.cut = true
	}
}

func (g *goTest) packageEnd(name string, passed bool, rest string) {
	g.recognized = true
	built := !strings.HasSuffix(rest, "failed]") // "[build failed]" or "[setup failed]"
	if built {
		g.addPending(name + ".")
	}
	if built && !passed {
		for _, test := range slices.Sorted(maps.Keys(g.begun)) {
			g.add(name+"."+test, Failed)
		}
	}
	switch {
	case !passed && (!built || !g.failing || g.crashed):
		g.add(name, Broken)
		if built && !g.failing && len(g.begun) == 0 {
			g.add(name+didNotEnd, Broken)
		}
	case passed && len(g.begun) > 0 && !g.ended: // the process ended with 0
		g.add(name+didNotEnd, Broken)
	case passed && !g.testing && !strings.Contains(rest, "[no tests to run]"):
		g.add(name, Passed)
		g.packages++
	}
	if built {
		g.failing, g.crashed, g.testing, g.ended, g.begun = false, false, false, false, nil
	}
}

// addPending adds the pending tests, with a prefix that names their package.
func (g *goTest) addPending(prefix string) {
	for _, test := range g.pending {
		g.add(prefix+test.Name, test.Outcome)
	}
	g.pending = nil
}

// end adds the tests of a package that never ended, and counts it as broken.
func (g *goTest) end() *results {
	if len(g.pending) > 0 {
		if g.failing {
			g.recognized = true
		}
		g.addPending("")
		g.add("a package that"+didNotEnd, Broken)
	}
	g.dropParents("/")
	return &g.results
}

// isCrash reports whether a line shows that a test program ended early.
func isCrash(text string) bool {
	return strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") || strings.HasPrefix(text, "signal: ") ||
		strings.HasPrefix(text, "exit status ") && text != "exit status 1"
}

// cargo reads cargo test. It puts the test program before each name.
type cargo struct {
	results

	program  string
	running  bool // between "running N tests" and "test result:"
	list     bool // in the list of failed tests
	examples map[example]Outcome
}

// example is a test in the documentation of an item. An edit above moves its line, which therefore is not in its name.
type example struct {
	item string
	line int
}

var (
	cargoProgram = pattern.Of(`^ +Running (?:unittests )?(\S+) \((?:.*[/\\])?([^/\\]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)$`)
	cargoDoc     = pattern.Of(`^ +Doc-tests (\S+)$`)
	cargoRunning = pattern.Of(`^running \d+ tests?$`)
	cargoTest    = pattern.Of(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*| <[\d.]+s>)?$`)
	cargoSum     = pattern.Of(`(\d{1,9}) (passed|failed|ignored);`)
	cargoFailed  = pattern.Of(`^    (\S.*)$`)
	cargoLine    = pattern.Of(` \(line (\d{1,9})\)`)
)

func (c *cargo) line(text string) {
	list := c.list
	c.list = false
	switch {
	case strings.HasPrefix(text, " ") && !list:
		if strings.Contains(text, " Running ") || strings.Contains(text, " Doc-tests ") {
			c.enter(text)
		}
	case strings.HasPrefix(text, "test result: "):
		c.running = false
		c.sum(text)
	case strings.HasPrefix(text, "test "):
		c.test(text)
	case text == "failures:":
		c.list = c.running
	case list:
		if m := cargoFailed.FindStringSubmatch(text); m != nil {
			c.addNamed(m[1], Failed)
			c.list = true
		}
	case strings.HasPrefix(text, "running ") && cargoRunning.MatchString(text):
		c.endProgram()
		c.running, c.recognized = true, true
	}
}

func (c *cargo) enter(text string) {
	if m := cargoProgram.FindStringSubmatch(text); m != nil {
		c.endProgram()
		c.program = m[2] + " " + m[1] + " "
	} else if m := cargoDoc.FindStringSubmatch(text); m != nil {
		c.endProgram()
		c.program = "doc " + m[1] + " "
	}
}

func (c *cargo) test(text string) {
	m := cargoTest.FindStringSubmatch(text)
	if m == nil {
		return
	}
	outcome := map[string]Outcome{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]]
	c.addNamed(m[1], outcome)
}

func (c *cargo) addNamed(name string, outcome Outcome) {
	m := cargoLine.FindStringSubmatch(name)
	if m == nil || len(name) > maxName || len(c.examples) == maxTests {
		c.addOnce(c.program+name, outcome)
		return
	}
	if c.examples == nil {
		c.examples = map[example]Outcome{}
	}
	c.examples[example{c.program + strings.Replace(name, m[0], "", 1), number(m[1])}] = outcome
}

// addExamples adds the examples of a program. Their output comes in any order, and so they are numbered by their lines.
func (c *cargo) addExamples() {
	ofItem := map[string]int{}
	for _, e := range slices.SortedFunc(maps.Keys(c.examples), func(a, b example) int { return cmp.Or(cmp.Compare(a.item, b.item), a.line-b.line) }) {
		name := e.item
		if ofItem[e.item]++; ofItem[e.item] > 1 {
			name += fmt.Sprintf(" (%d)", ofItem[e.item])
		}
		c.addOnce(name, c.examples[e])
	}
	c.examples = nil
}

func (c *cargo) sum(text string) {
	for _, m := range cargoSum.FindAllStringSubmatch(text, 3) {
		c.addCount(map[string]Outcome{"passed": Passed, "failed": Failed, "ignored": Skipped}[m[2]], number(m[1]))
	}
}

// endProgram adds a broken test if the program ran tests and printed no result.
func (c *cargo) endProgram() {
	c.addExamples()
	if c.running {
		c.add(strings.TrimSuffix(c.program, " ")+didNotEnd, Broken)
	}
	c.running = false
}

func (c *cargo) end() *results {
	c.endProgram()
	return &c.results
}
