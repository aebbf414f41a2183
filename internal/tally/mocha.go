package tally

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// number is a count that was written down; one too long to be true is none.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 9 {
		return 0
	}
	return n
}

// mocha reads mocha's spec reporter, and the sum that others share with it.
type mocha struct {
	sheet

	path   branch
	report bool   // what failed is being named
	open   string // the name under way, which goes over lines
	naming bool
}

var (
	mochaSum   = pattern.Of(`^ {2}(\d{1,9}) (passing|failing|pending)(?: \(.*\))?$`)
	mochaItem  = pattern.Of(`^([✔✓√-]) (.+)$`)
	mochaRed   = pattern.Of(`^ {2}\d+\) (.+)$`)
	mochaTimed = pattern.Of(` \(\d+ms\)$`)
)

func (m *mocha) line(text string) {
	switch {
	case strings.HasSuffix(text, ")") && strings.Contains(text, " passing (") || strings.HasSuffix(text, " failing") || strings.HasSuffix(text, " pending"):
		m.sum(text)
	case m.report:
		m.red(text)
	case strings.HasPrefix(text, "  "):
		m.item(text)
	}
}

func (m *mocha) sum(text string) {
	found := mochaSum.FindStringSubmatch(text)
	if found == nil {
		return
	}
	m.seen, m.path = true, nil
	m.report = found[2] == "failing"
	m.tell(map[string]Outcome{"passing": Passed, "failing": Failed, "pending": Skipped}[found[2]], number(found[1]))
}

// item reads a line of the list. What failed is only a number there.
func (m *mocha) item(text string) {
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if body == "" {
		return
	}
	var found []string
	if body[0] >= utf8.RuneSelf || body[0] == '-' {
		found = mochaItem.FindStringSubmatch(body)
	}
	if found == nil {
		m.path.enter(indent, body)
		return
	}
	m.path.enter(indent, mochaTimed.ReplaceAllString(found[2], ""))
	m.add(m.path.String(), map[bool]Outcome{true: Skipped, false: Passed}[found[1] == "-"])
	m.path.leave()
}

// red reads the names of what failed: "  1) cart", "       removes:".
func (m *mocha) red(text string) {
	if found := mochaRed.FindStringSubmatch(text); found != nil {
		m.naming, m.open = true, ""
		text = found[1]
	}
	if !m.naming {
		return
	}
	name, last := strings.CutSuffix(strings.TrimSpace(text), ":")
	if name == "" || len(m.open) > longLine {
		m.naming = false
		return
	}
	m.open = strings.TrimPrefix(m.open+between+name, between)
	if last {
		m.add(m.open, Failed)
		m.naming = false
	}
}

// nodeSpec reads node --test as it prints for people, neither TAP nor JUnit.
type nodeSpec struct {
	sheet

	path branch
	over bool // what follows was told before
}

var (
	nodeItem  = pattern.Of(`^([✔✖﹣▶⚠]) (.+)$`)
	nodeTimed = pattern.Of(` \([\d.]+ms\)$`)
	nodeSum   = pattern.Of(`^ℹ (pass|fail|cancelled|skipped|todo) (\d{1,9})$`)
)

func (n *nodeSpec) line(text string) {
	switch {
	case strings.HasPrefix(text, "ℹ "):
		n.sum(text)
	case !n.over:
		body := strings.TrimLeft(text, " ")
		if body == "" || body[0] < utf8.RuneSelf {
			return
		}
		if m := nodeItem.FindStringSubmatch(body); m != nil {
			n.item(len(text)-len(body), m[1], m[2])
		}
	}
}

func (n *nodeSpec) sum(text string) {
	if m := nodeSum.FindStringSubmatch(text); m != nil {
		n.seen, n.over = true, true
		counts := map[string]Outcome{"pass": Passed, "skipped": Skipped, "todo": Skipped}
		if how, counted := counts[m[1]]; counted {
			n.tell(how, number(m[2]))
		}
	}
}

func (n *nodeSpec) item(indent int, sign, text string) {
	name, mark := marked(text)
	name = nodeTimed.ReplaceAllString(name, "")
	if sign == "▶" {
		n.path.enter(indent, name)
		return
	}
	for len(n.path) > 0 && n.path[len(n.path)-1].indent > indent {
		n.path.leave()
	}
	if !n.path.has(indent, name) { // else it closes what was announced
		n.path.enter(indent, name)
	}
	how := Passed
	switch {
	case mark != "" || sign == "﹣" || sign == "⚠":
		how = Skipped
	case sign == "✖":
		how = Failed
	}
	n.add(n.path.String(), how)
	n.path.leave()
}

func (n *nodeSpec) end() *sheet {
	n.leaves(between)
	return &n.sheet
}
