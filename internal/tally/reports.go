package tally

import (
	"encoding/json"
	"strings"
)

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
