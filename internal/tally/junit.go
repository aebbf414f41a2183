package tally

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// document gathers the lines of a text that is read as a whole.
type document struct {
	text strings.Builder
	open bool
	full bool
}

func (d *document) gather(line string) {
	if d.text.Len()+len(line) > longest {
		d.full = true
		return
	}
	d.text.WriteString(line)
	d.text.WriteByte('\n')
}

// junit reads JUnit's XML, as many runners can print it.
type junit struct {
	sheet
	document
}

func (*junit) whole() {}

func (j *junit) line(text string) {
	start := strings.TrimLeft(text, " \t\ufeff")
	if !j.open && (strings.HasPrefix(start, "<?xml") || strings.HasPrefix(start, "<testsuite")) {
		j.open = true
		text = start
	}
	if j.open {
		j.gather(text)
	}
}

func (j *junit) end() *sheet {
	j.runner = "junit"
	if j.open {
		j.cut = j.full
		j.decode(j.text.String())
	}
	return &j.sheet
}

// decode reads the tests of a text, and of others that follow it. What is torn
// leaves what was read before it.
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

// full is the name of the test under way with its suites and its class, each
// once.
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
