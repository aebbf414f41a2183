package results_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/proof/results"
)

// A file that node or vitest could not load is no failed test.
func TestAFileThatDoesNotLoad(t *testing.T) {
	var read results.Results
	err := read.AddJUnit([]byte(`<testsuites>
	<testcase name="test/hours.test.js" time="0.1" classname="test" failure="test failed">
		<failure type="testCodeFailure" message="test failed">Error</failure>
	</testcase>
	<testcase name="minutes" time="0.1" classname="test"/>
	<testsuite name="src/sub.test.js">
		<testcase classname="src/sub.test.js" name="src/sub.test.js"><failure message="Cannot find module"/></testcase>
	</testsuite>
</testsuites>`))
	if read.Of("src/sub.test.js") != results.Broken {
		t.Errorf("%s, want a file that vitest could not load", read)
	}
	if err != nil || read.Of("test/hours.test.js") != results.Broken || read.Of("minutes") != results.Passed {
		t.Errorf("%v\n%s, want a broken file and a passed test", err, read)
	}
}
