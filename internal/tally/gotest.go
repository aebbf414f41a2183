package tally

import (
	"encoding/json"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// goEvents reads go test -json.
type goEvents struct {
	sheet

	failing map[string]bool // packages in which a test failed
	testing map[string]bool // packages of which tests are known
	crashed map[string]bool
}

func (g *goEvents) line(text string) {
	if !strings.HasPrefix(text, `{"`) || !strings.Contains(text, `"Action":"`) {
		return
	}
	var event struct{ Action, Package, Test, Output string }
	if json.Unmarshal([]byte(text), &event) != nil || event.Package == "" {
		return
	}
	if g.failing == nil {
		g.failing, g.testing, g.crashed = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	g.seen = true
	how, ended := map[string]Outcome{"pass": Passed, "fail": Failed, "skip": Skipped}[event.Action]
	switch {
	case event.Action == "output" && len(g.crashed) < mostTests:
		if brokeOff(strings.TrimSuffix(event.Output, "\n")) {
			g.crashed[event.Package] = true
		}
	case !ended:
	case event.Test != "":
		g.test(event.Package, event.Test, how)
	case how == Failed && (!g.failing[event.Package] || g.crashed[event.Package]):
		g.add(event.Package, Broken)
	case how == Passed && !g.testing[event.Package]:
		g.add(event.Package, Passed)
	}
}

func (g *goEvents) test(pkg, name string, how Outcome) {
	if len(g.testing) < mostTests {
		g.testing[pkg] = true
	}
	if how == Failed && len(g.failing) < mostTests {
		g.failing[pkg] = true
	}
	g.add(pkg+"."+name, how)
}

func (g *goEvents) end() *sheet {
	g.leaves("/")
	return &g.sheet
}

// goText reads go test and go test -v. A package's name comes after its tests.
type goText struct {
	sheet

	pending []Test
	failing bool
	crashed bool
	testing bool
}

var (
	goResult  = pattern.Of(`^ *--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$`)
	goPackage = pattern.Of(`^(ok  |FAIL)\t(\S+)(?:\t| )(.*)$`)
)

func (g *goText) line(text string) {
	switch {
	case strings.Contains(text, "--- "):
		if m := goResult.FindStringSubmatch(text); m != nil {
			g.test(m[2], map[string]Outcome{"PASS": Passed, "FAIL": Failed, "SKIP": Skipped}[m[1]])
		}
	case strings.HasPrefix(text, "=== RUN "):
		g.testing = true
	case brokeOff(text):
		g.crashed = true
	case strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "FAIL\t"):
		if m := goPackage.FindStringSubmatch(text); m != nil {
			g.pack(m[2], m[1] != "FAIL", m[3])
		}
	}
}

func (g *goText) test(name string, how Outcome) {
	g.testing = true
	g.failing = g.failing || how == Failed
	if len(g.pending) < 2*mostTests {
		g.pending = append(g.pending, Test{name, how})
	} else {
		g.cut = true
	}
}

func (g *goText) pack(name string, passed bool, rest string) {
	g.seen = true
	built := !strings.HasSuffix(rest, "failed]") // build, or setup
	if built {
		g.settle(name + ".")
	}
	switch {
	case !passed && (!built || !g.failing || g.crashed):
		g.add(name, Broken)
	case passed && !g.testing && !strings.Contains(rest, "[no tests to run]"):
		g.add(name, Passed)
	}
	if built {
		g.failing, g.crashed, g.testing = false, false, false
	}
}

// settle gives the tests that wait for it their package.
func (g *goText) settle(prefix string) {
	for _, test := range g.pending {
		g.add(prefix+test.Name, test.Outcome)
	}
	g.pending = nil
}

// end keeps the tests of a package that never ended, which is why it broke.
func (g *goText) end() *sheet {
	if len(g.pending) > 0 {
		if g.failing {
			g.seen = true
		}
		g.settle("")
		g.add("a package that did not end", Broken)
	}
	g.leaves("/")
	return &g.sheet
}

// brokeOff tells of a line that a test's program leaves when it does not get to its end.
func brokeOff(text string) bool {
	return strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") || strings.HasPrefix(text, "signal: ") ||
		strings.HasPrefix(text, "exit status ") && text != "exit status 1"
}

// cargo reads cargo test. A name is qualified by the program it is in.
type cargo struct {
	sheet

	program string
	running bool // tests were announced, and their result is not there yet
	list    bool // within the names of those that failed
}

var (
	cargoProgram = pattern.Of(`^ +Running (?:unittests )?(\S+) \((?:.*[/\\])?([^/\\]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)$`)
	cargoDoc     = pattern.Of(`^ +Doc-tests (\S+)$`)
	cargoRunning = pattern.Of(`^running \d+ tests?$`)
	cargoTest    = pattern.Of(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*| <[\d.]+s>)?$`)
	cargoSum     = pattern.Of(`(\d{1,9}) (passed|failed|ignored);`)
	cargoFailed  = pattern.Of(`^    (\S.*)$`)
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
			c.set(c.program+m[1], Failed)
			c.list = true
		}
	case strings.HasPrefix(text, "running ") && cargoRunning.MatchString(text):
		c.broken()
		c.running, c.seen = true, true
	}
}

func (c *cargo) enter(text string) {
	if m := cargoProgram.FindStringSubmatch(text); m != nil {
		c.broken()
		c.program = m[2] + " " + m[1] + " "
	} else if m := cargoDoc.FindStringSubmatch(text); m != nil {
		c.broken()
		c.program = "doc " + m[1] + " "
	}
}

func (c *cargo) test(text string) {
	m := cargoTest.FindStringSubmatch(text)
	if m == nil {
		return
	}
	how := map[string]Outcome{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[m[2]]
	c.set(c.program+m[1], how)
}

func (c *cargo) sum(text string) {
	for _, m := range cargoSum.FindAllStringSubmatch(text, 3) {
		c.tell(map[string]Outcome{"passed": Passed, "failed": Failed, "ignored": Skipped}[m[2]], number(m[1]))
	}
}

// broken notes a program that ran tests and gave no result.
func (c *cargo) broken() {
	if c.running {
		c.add(strings.TrimSpace(c.program+"did not end"), Broken)
	}
	c.running = false
}

func (c *cargo) end() *sheet {
	c.broken()
	return &c.sheet
}
