package tally

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

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
	c.runner = "cargo"
	c.broken()
	return &c.sheet
}
