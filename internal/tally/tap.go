package tally

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// tap reads the Test Anything Protocol, versions 12 to 14, subtests included.
type tap struct {
	sheet

	points  int // seen at the outermost
	planned int
	version bool
	path    branch // the tests around the line, as far as they were announced
	yaml    int    // how far in a block of YAML is; 0: there is none
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

// outermost reads what is said of the whole.
func (t *tap) outermost(body string) {
	switch {
	case strings.HasPrefix(body, "TAP version "):
		t.version, t.seen = true, true
	case strings.HasPrefix(body, "Bail out!"):
		t.add(body, Broken)
	case strings.HasPrefix(body, "1.."):
		if m := tapPlan.FindStringSubmatch(body); m != nil {
			n := number(m[1])
			t.planned, t.seen = t.planned+n, true
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
	text, mark := marked(strings.TrimSuffix(strings.TrimSpace(m[3]), " {"))
	name := strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(text, "- ")), `\#`, "#")
	if name == "" {
		name = "test " + m[2]
	}
	how := Passed
	switch {
	case mark == "skip" || mark == "todo":
		how = Skipped
	case m[1] != "":
		how = Failed
	}
	t.path.enter(indent, name)
	t.add(t.path.String(), how)
	if !strings.HasSuffix(body, "{") {
		t.path.leave()
	}
}

// marked is a point's text, and what the directive behind it says.
func marked(text string) (rest, mark string) {
	at := tapMark.FindStringSubmatchIndex(text)
	if at == nil {
		return text, ""
	}
	return strings.TrimRight(text[:at[2]], " #"), strings.ToLower(text[at[2]:at[3]])
}

func (t *tap) end() *sheet {
	t.runner, t.seen = "tap", t.seen && t.points+t.failed > 0
	if t.points < t.planned {
		t.add(fmt.Sprintf("%d planned tests that did not run", t.planned-t.points), Broken)
	}
	t.leaves(between)
	return &t.sheet
}
