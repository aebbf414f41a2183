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

// junit reads JUnit XML. It decodes the whole document at the end.
type junit struct {
	results

	text strings.Builder
	open bool
}

func (*junit) longLines() {}

func (j *junit) line(text string) {
	start := strings.TrimLeft(text, " \t\ufeff")
	if !j.open && (strings.HasPrefix(start, "<?xml") || strings.HasPrefix(start, "<testsuite")) {
		j.open = true
		text = start
	}
	switch {
	case !j.open:
	case j.text.Len()+len(text) > maxLine:
		j.cut = true
	default:
		j.text.WriteString(text + "\n")
	}
}

func (j *junit) end() *results {
	if j.open {
		j.decode(j.text.String())
	}
	return &j.results
}

// decode adds the tests of a document. Of an incomplete one, it adds the tests before the break.
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
			j.recognized = j.recognized || strings.HasPrefix(t.Name.Local, "testsuite")
			at.start(t)
		case xml.EndElement:
			at.end(t, &j.results)
		}
	}
}

// suites is the decoder's position in the document.
type suites struct {
	depth   int
	path    nesting
	name    string // of the current test
	class   string
	outcome Outcome
}

func (s *suites) start(t xml.StartElement) {
	s.depth++
	switch t.Name.Local {
	case "testsuite":
		s.path.enter(s.depth, attribute(t, "name"))
	case "testcase":
		s.name, s.class, s.outcome = attribute(t, "name"), attribute(t, "classname"), Passed
		if strings.HasPrefix(attribute(t, "status"), "fail") {
			s.outcome = Failed
		}
	case "skipped", "disabled":
		s.outcome = Skipped
	case "failure", "error":
		if s.outcome != Skipped { // a skipped test may fail: a todo, or an expected failure
			s.outcome = Failed
		}
	}
}

func (s *suites) end(t xml.EndElement, to *results) {
	s.depth--
	switch t.Name.Local {
	case "testsuite":
		if s.name == "" && s.outcome == Failed { // the suite itself failed
			to.add(s.path.String(), Broken)
		}
		s.outcome = ""
		s.path.leave()
	case "testcase":
		to.add(s.full(), s.outcome)
		s.name, s.outcome = "", ""
	}
}

// full returns the name of the test after its suites and its class, without repetitions.
func (s *suites) full() string {
	names := []string{s.path.String(), s.class, s.name}
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return strings.Join(names, separator)
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
	results

	points  int // test points outside subtests
	planned int
	path    nesting // the subtests around the current line
	yaml    int     // 1 + the indent of the current YAML block; 0: none
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
	t.add(t.path.String(), outcome)
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
