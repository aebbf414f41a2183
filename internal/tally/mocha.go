package tally

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// number returns a count, or 0 if it has more than 9 digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || len(digits) > 9 {
		return 0
	}
	return n
}

// mocha reads mocha's spec reporter, and the totals that its other reporters print too.
type mocha struct {
	results

	path   nesting
	report bool   // in the report of failures, after the totals
	naming bool   // in the name of a failed test, which has a line for each suite
	name   string // what was read of that name
}

var (
	mochaSum     = pattern.Of(`^ {2}(\d{1,9}) (passing|failing|pending)(?: \(.*\))?$`)
	mochaItem    = pattern.Of(`^([✔✓√-]) (.+)$`)
	mochaFailure = pattern.Of(`^ {2}\d+\) (.+)$`)
	mochaTimed   = pattern.Of(` \(\d+ms\)$`)
)

func (m *mocha) line(text string) {
	switch {
	case strings.HasSuffix(text, ")") && strings.Contains(text, " passing (") || strings.HasSuffix(text, " failing") || strings.HasSuffix(text, " pending"):
		m.sum(text)
	case m.report:
		m.failure(text)
	case strings.HasPrefix(text, "  "):
		m.item(text)
	}
}

func (m *mocha) sum(text string) {
	found := mochaSum.FindStringSubmatch(text)
	if found == nil {
		return
	}
	m.recognized, m.path = true, nil
	m.report = found[2] == "failing"
	m.addCount(map[string]Outcome{"passing": Passed, "failing": Failed, "pending": Skipped}[found[2]], number(found[1]))
}

// item reads a line of the list, which has only a number for a failed test.
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

// failure reads a line of a failed test's name: "  1) cart", "       removes:".
func (m *mocha) failure(text string) {
	if found := mochaFailure.FindStringSubmatch(text); found != nil {
		m.naming, m.name = true, ""
		text = found[1]
	}
	if !m.naming {
		return
	}
	name, last := strings.CutSuffix(strings.TrimSpace(text), ":")
	if name == "" || len(m.name) > maxLine {
		m.naming = false
		return
	}
	m.name = strings.TrimPrefix(m.name+separator+name, separator)
	if last {
		m.add(m.name, Failed)
		m.naming = false
	}
}

// nodeSpec reads the spec reporter of node --test.
type nodeSpec struct {
	results

	path nesting
	over bool // after the totals, where failures are repeated
	file nodeFile
}

// nodeFile is a file that node --test says has failed. Node ends what it tells of a file that it cannot load, but not
// of one whose process ended early, with its own version.
type nodeFile struct {
	name     string
	unloaded bool
}

func (f *nodeFile) line(text string) { f.unloaded = f.unloaded || strings.HasPrefix(text, "Node.js v") }

// end adds the file if it could be loaded.
func (f *nodeFile) end(to *results) {
	if !f.unloaded {
		to.addOnce(f.name+didNotEnd, Broken)
	}
	f.unloaded = false
}

var (
	nodeItem  = pattern.Of(`^([✔✖﹣▶⚠]) (.+)$`)
	nodeTimed = pattern.Of(` \([\d.]+ms\)$`)
	nodeSum   = pattern.Of(`^ℹ (pass|fail|cancelled|skipped|todo) (\d{1,9})$`)
)

func (n *nodeSpec) line(text string) {
	n.file.line(text)
	switch {
	case text == "  'test failed'" && !n.over:
		n.file.end(&n.results)
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
		n.recognized, n.over = true, true
		counts := map[string]Outcome{"pass": Passed, "skipped": Skipped, "todo": Skipped}
		if outcome, counted := counts[m[1]]; counted {
			n.addCount(outcome, number(m[2]))
		}
	}
}

func (n *nodeSpec) item(indent int, sign, text string) {
	name, directive := cutDirective(text)
	name = nodeTimed.ReplaceAllString(name, "")
	if sign == "▶" {
		n.path.enter(indent, name)
		return
	}
	n.path.leaveTo(indent + 1)
	if !n.path.has(indent, name) { // else the line ends a suite that "▶" began
		n.path.enter(indent, name)
	}
	outcome := Passed
	switch {
	case directive != "" || sign == "﹣" || sign == "⚠":
		outcome = Skipped
	case sign == "✖":
		outcome = Failed
	}
	n.file.name = n.path.String()
	n.add(n.file.name, outcome)
	n.path.leave()
}

func (n *nodeSpec) end() *results {
	n.dropParents(separator)
	return &n.results
}
