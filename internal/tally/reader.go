package tally

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// How much of an output is read, and how long a line or a document may be.
const (
	mostRead = 256 << 20
	longLine = 64 << 10
	longest  = 16 << 20
)

// Reader takes an output as it is written and tells its tests at the end. It
// never fails: what it does not understand is no test.
type Reader struct {
	// Root is the folder the check ran in; names are told without it, so that
	// they are the same in another.
	Root string

	readers []reader
	line    []byte
	skip    bool // the line under way is longer than any that is read
	read    int64
	cut     bool
}

// reader reads the output of one runner, line by line.
type reader interface {
	line(text string)
	end() *sheet // what it came to; called once
}

// Write takes a part of the output.
func (r *Reader) Write(part []byte) (int, error) {
	if r.readers == nil {
		r.readers = []reader{
			&goEvents{}, &goText{}, &junit{}, &reports{}, &tap{}, &pytest{}, &unittest{},
			&jest{}, &vitest{}, &mocha{}, &nodeSpec{}, &cargo{},
		}
	}
	size := len(part)
	if r.read += int64(size); r.read > mostRead {
		r.cut = true
		return size, nil
	}
	for len(part) > 0 {
		line, rest, whole := bytes.Cut(part, []byte{'\n'})
		r.grow(line)
		if whole {
			r.flush()
		}
		part = rest
	}
	return size, nil
}

func (r *Reader) grow(part []byte) {
	if r.skip || len(r.line)+len(part) > longest {
		r.skip, r.cut, r.line = true, true, nil
		return
	}
	r.line = append(r.line, part...)
}

// flush hands the line under way to those who read lines of its length.
func (r *Reader) flush() {
	text := plain(r.line)
	r.line, r.skip = r.line[:0], false
	for _, reader := range r.readers {
		_, takes := reader.(interface{ whole() })
		if takes || len(text) <= longLine {
			reader.line(text)
		}
	}
}

// Tally is what all of it came to. Nothing may be written afterwards.
func (r *Reader) Tally() Tally {
	if len(r.line) > 0 {
		r.flush()
	}
	tally := Tally{Cut: r.cut}
	for _, reader := range r.readers {
		sheet := reader.end()
		if !sheet.seen {
			continue
		}
		tally.take(sheet, strings.TrimSuffix(r.Root, "/")+"/")
	}
	r.readers = nil
	return tally
}

// take adds what one runner's output came to.
func (t *Tally) take(s *sheet, root string) {
	if !slices.Contains(t.Runners, s.runner) {
		t.Runners = append(t.Runners, s.runner)
	}
	one := Tally{Tests: s.tests, Passed: s.told[Passed], Failed: s.told[Failed], Skipped: s.told[Skipped]}
	one.count()
	for _, test := range one.Tests {
		if root != "/" {
			test.Name = strings.ReplaceAll(test.Name, root, "")
		}
		t.Tests = append(t.Tests, test)
	}
	t.Passed, t.Failed, t.Skipped = t.Passed+one.Passed, t.Failed+one.Failed, t.Skipped+one.Skipped
	// A runner that counts more failures than it names keeps some to itself.
	t.Cut = t.Cut || s.cut || one.Failed > len(one.Names(Failed, Broken))
}

var colour = pattern.Of("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")

// plain is a line as a terminal would leave it: without colours, and without
// what was written over.
func plain(line []byte) string {
	text := strings.TrimRight(string(line), "\r")
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = colour.ReplaceAllString(text, "")
	}
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:]
	}
	return text
}

// reports reads the JSON that jest, vitest and mocha print when asked to.
type reports struct {
	sheet
	document

	all int // how many documents were read
}

func (*reports) whole() {}

func (r *reports) line(text string) {
	switch {
	case r.open:
		r.gather(text)
	case text == "{" || strings.HasPrefix(text, `{"num`) || strings.HasPrefix(text, `{"stats"`):
		r.open = true
		r.text.Reset()
		r.gather(text)
	default:
		return
	}
	if strings.HasSuffix(text, "}") && (text == "}" || strings.HasPrefix(text, "{")) {
		r.open = false
		r.read(r.text.String())
	}
}

// mostObjects bounds what a document can become in memory.
const mostObjects = 300_000

func (r *reports) read(text string) {
	if r.all++; r.all > 1000 || strings.Count(text, "{") > mostObjects {
		r.cut = true
		return
	}
	var told struct {
		jestReport
		mochaReport
	}
	if json.Unmarshal([]byte(text), &told) != nil {
		return
	}
	told.jestReport.tell(&r.sheet)
	told.mochaReport.tell(&r.sheet)
}

// jestReport is what jest and vitest print with --json.
type jestReport struct {
	Total   *int `json:"numTotalTests"`
	Results []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Tests  []struct {
			Within []string `json:"ancestorTitles"`
			Title  string   `json:"title"`
			Status string   `json:"status"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

func (j jestReport) tell(to *sheet) {
	if j.Total == nil {
		return
	}
	to.runner, to.seen = "jest", true
	for _, file := range j.Results {
		if file.Status == "failed" && len(file.Tests) == 0 {
			to.add(file.Name, Broken)
		}
		for _, test := range file.Tests {
			name := strings.Join(append(append([]string{file.Name}, test.Within...), test.Title), between)
			to.add(name, jestStatus(test.Status))
		}
	}
}

func jestStatus(status string) Outcome {
	switch status {
	case "passed":
		return Passed
	case "failed":
		return Failed
	}
	return Skipped
}

// mochaReport is what mocha prints with --reporter json.
type mochaReport struct {
	Stats    *struct{}   `json:"stats"`
	Passes   []mochaTest `json:"passes"`
	Failures []mochaTest `json:"failures"`
	Pending  []mochaTest `json:"pending"`
}

type mochaTest struct {
	Title string `json:"fullTitle"`
	File  string `json:"file"`
}

func (m mochaReport) tell(to *sheet) {
	if m.Stats == nil {
		return
	}
	to.runner, to.seen = "mocha", true
	m.add(to, m.Passes, Passed)
	m.add(to, m.Failures, Failed)
	m.add(to, m.Pending, Skipped)
}

func (m mochaReport) add(to *sheet, tests []mochaTest, how Outcome) {
	for _, test := range tests {
		to.add(strings.TrimPrefix(test.File+between+test.Title, between), how)
	}
}

func (r *reports) end() *sheet {
	if r.open && r.full {
		r.cut, r.seen, r.runner = true, true, "json"
	}
	return &r.sheet
}
