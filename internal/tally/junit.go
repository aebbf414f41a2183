package tally

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// junit reads JUnit's XML, as many runners can print it. It is read as a whole.
type junit struct {
	sheet

	text strings.Builder
	open bool
}

func (*junit) whole() {}

func (j *junit) line(text string) {
	start := strings.TrimLeft(text, " \t\ufeff")
	if !j.open && (strings.HasPrefix(start, "<?xml") || strings.HasPrefix(start, "<testsuite")) {
		j.open = true
		text = start
	}
	switch {
	case !j.open:
	case j.text.Len()+len(text) > longest:
		j.cut = true
	default:
		j.text.WriteString(text + "\n")
	}
}

func (j *junit) end() *sheet {
	if j.open {
		j.decode(j.text.String())
	}
	return &j.sheet
}

// decode reads the tests of a text. What is torn leaves what was read before it.
func (j *junit) decode(text string) {
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var at suites
	for {
		token, err := decoder.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) && at.depth > 0 {
				j.cut = true
			}
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			j.seen = j.seen || strings.HasPrefix(t.Name.Local, "testsuite")
			at.start(t)
		case xml.EndElement:
			at.end(t, &j.sheet)
		}
	}
}

// suites is where in the XML we are.
type suites struct {
	depth int
	path  branch
	name  string // of the test under way
	class string
	how   Outcome
}

func (s *suites) start(t xml.StartElement) {
	s.depth++
	switch t.Name.Local {
	case "testsuite":
		s.path.enter(s.depth, attribute(t, "name"))
	case "testcase":
		s.name, s.class, s.how = attribute(t, "name"), attribute(t, "classname"), Passed
		if strings.HasPrefix(attribute(t, "status"), "fail") {
			s.how = Failed
		}
	case "skipped", "disabled":
		s.how = Skipped
	case "failure", "error":
		if s.how != Skipped { // of a test that was to be done, or expected to fail
			s.how = Failed
		}
	}
}

func (s *suites) end(t xml.EndElement, to *sheet) {
	s.depth--
	switch t.Name.Local {
	case "testsuite":
		if s.name == "" && s.how == Failed { // of the suite itself
			to.add(s.path.String(), Broken)
		}
		s.how = ""
		s.path.leave()
	case "testcase":
		to.add(s.full(), s.how)
		s.name, s.how = "", ""
	}
}

// full is the name of the test with its suites and its class, each once.
func (s *suites) full() string {
	names := []string{s.path.String(), s.class, s.name}
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return strings.Join(names, between)
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// tap reads the Test Anything Protocol, versions 12 to 14, subtests included.
type tap struct {
	sheet

	points  int // seen at the outermost
	planned int
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

func (t *tap) outermost(body string) {
	switch {
	case strings.HasPrefix(body, "TAP version "):
		t.seen = true
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
	name := cmp.Or(strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(text, "- ")), `\#`, "#"), "test "+m[2])
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
	t.seen = t.seen && t.points+t.failed > 0
	if t.points < t.planned {
		t.add(fmt.Sprintf("%d planned tests that did not run", t.planned-t.points), Broken)
	}
	t.leaves(between)
	return &t.sheet
}
