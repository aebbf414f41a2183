package tally

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// tap reads the Test Anything Protocol, versions 12 to 14, subtests included.
type tap struct {
	results

	points  int // test points outside subtests
	planned int
	path    nesting // the subtests around the current line
	yaml    int     // 1 + the indent of the current YAML block; 0: none
	node    nodeFile
}

var (
	tapPlan  = pattern.Of(`^1\.\.(\d{1,9})(?:\s*#.*)?$`)
	tapPoint = pattern.Of(`^(not )?ok\b *(\d*)(.*)$`)
	tapMark  = pattern.Of(`(?i)(?:^|[^\\])# *(skip|todo|time=)`)
)

func (t *tap) line(text string) {
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if t.yaml > 0 {
		if body == "..." || body != "" && indent < t.yaml-1 {
			t.yaml = 0
		}
		if t.yaml > 0 || body == "..." {
			if strings.HasPrefix(body, "exitCode: ") {
				t.node.end(&t.results)
			}
			return
		}
	}
	switch {
	case body == "---":
		t.yaml = indent + 1
	case strings.HasPrefix(body, "# Subtest: "):
		t.path.enter(indent, strings.TrimPrefix(body, "# Subtest: "))
	case strings.HasPrefix(body, "ok  \t"): // a package of go test
	case strings.HasPrefix(body, "ok") || strings.HasPrefix(body, "not ok"):
		t.point(indent, body)
	case indent == 0:
		t.outermost(body)
	}
}

func (t *tap) outermost(body string) {
	t.node.line(strings.TrimPrefix(body, "# "))
	switch {
	case strings.HasPrefix(body, "TAP version "):
		t.recognized = true
	case strings.HasPrefix(body, "Bail out!"):
		t.add(body, Broken)
	case strings.HasPrefix(body, "1.."):
		if m := tapPlan.FindStringSubmatch(body); m != nil {
			n := number(m[1])
			t.planned, t.recognized = t.planned+n, true
		}
	}
}

func (t *tap) point(indent int, body string) {
	m := tapPoint.FindStringSubmatch(body)
	if m == nil {
		return
	}
	if indent == 0 {
		t.points++
	}
	text, directive := cutDirective(strings.TrimSuffix(strings.TrimSpace(m[3]), " {"))
	name := cmp.Or(strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(text, "- ")), `\#`, "#"), "test "+m[2])
	outcome := Passed
	switch {
	case directive == "skip" || directive == "todo":
		outcome = Skipped
	case m[1] != "":
		outcome = Failed
	}
	t.path.enter(indent, name)
	t.node.name = t.path.String()
	t.add(t.node.name, outcome)
	if !strings.HasSuffix(body, "{") {
		t.path.leave()
	}
}

// cutDirective splits the directive, such as "# SKIP", from the description of a test point.
func cutDirective(text string) (description, directive string) {
	at := tapMark.FindStringSubmatchIndex(text)
	if at == nil {
		return text, ""
	}
	return strings.TrimRight(text[:at[2]], " #"), strings.ToLower(text[at[2]:at[3]])
}

func (t *tap) end() *results {
	t.recognized = t.recognized && t.points+t.failed > 0
	if t.points < t.planned {
		t.add(fmt.Sprintf("%d planned tests that did not run", t.planned-t.points), Broken)
	}
	t.dropParents(separator)
	return &t.results
}
