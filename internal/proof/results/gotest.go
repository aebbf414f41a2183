package results

import (
	"io"

	"gotest.tools/gotestsum/testjson"
)

// maxJSON limits the output that is read for names: the library keeps it in memory.
const maxJSON = 64 << 20

// ReadGoTest reads the output of `go test -json`, which may have other lines, to its end. It writes the text that
// `go test -v` would print, and returns the tests. A package that failed without a failed test counts as broken.
// After a line that is too long, the rest is written as it is.
func ReadGoTest(from io.Reader, text io.Writer) (Results, error) {
	limited := &io.LimitedReader{R: from, N: maxJSON}
	printed := &printer{to: text}
	exec, err := testjson.ScanTestOutput(testjson.ScanConfig{
		Stdout:                   limited,
		Handler:                  printed,
		IgnoreNonJSONOutputLines: true,
	})
	all := testsOf(exec)
	if err != nil || limited.N <= 0 {
		all.Cut = true
	}
	if printed.err != nil {
		return all, printed.err
	}
	if _, err := io.Copy(text, limited); err != nil {
		return all, err
	}
	_, err = io.Copy(io.Discard, from)
	return all, err
}

func testsOf(exec *testjson.Execution) Results {
	var all Results
	if exec == nil {
		return all
	}
	for _, name := range exec.Packages() {
		pkg := exec.Package(name)
		all.addCases(name, Passed, pkg.Passed)
		all.addCases(name, Failed, pkg.Failed)
		all.addCases(name, Skipped, pkg.Skipped)
		if pkg.TestMainFailed() {
			all.Add(name, Broken)
		}
	}
	return all
}

func (r *Results) addCases(pkg string, outcome Outcome, cases []testjson.TestCase) {
	for _, test := range cases {
		r.Add(pkg+"."+test.Test.Name(), outcome)
	}
}

// printer writes the text of the events, and keeps the first error.
type printer struct {
	to  io.Writer
	err error
}

// Event implements testjson.EventHandler.
func (p *printer) Event(event testjson.TestEvent, _ *testjson.Execution) error {
	return p.print(event.Output)
}

// Err gets lines that are no event.
func (p *printer) Err(line string) error { return p.print(line + "\n") }

func (p *printer) print(text string) error {
	if p.err == nil {
		_, p.err = io.WriteString(p.to, text)
	}
	return p.err
}
