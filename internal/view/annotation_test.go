package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
	"github.com/ralph-loop/ralph/internal/view"
)

// An annotation for the last failure is at the line that its output names.
func TestAnnotations(t *testing.T) {
	const begun = `{"type":"check_ended","where":"base","name":"test","command":"make test","passed":true}
{"type":"baseline_ended","usable":true}
{"type":"iteration_began","number":1,"story":"US-001"}
{"type":"agent_ended","tools":7}
`
	const ended = `
{"type":"iteration_ended","number":1,"story":"US-001"}
{"type":"run_stopped","reason":"max_iterations"}`
	failed := func(excerpt string) string {
		return `{"type":"check_ended","where":"work","name":"test","command":"make test","exit":1,"excerpt":"` + excerpt + `"}`
	}
	stopped := view.Annotation{Title: "ralph stopped", Text: "stopped, out of iterations. Next: comment `/ralph` to go on; the input `max-iterations` sets a higher limit"}
	at := func(file string, line int) []view.Annotation {
		return []view.Annotation{stopped, {File: file, Line: line, Title: "test failed", Text: "check test failed (exit 1) in the agent's tree, 0s"}}
	}
	for name, c := range map[string]struct {
		journal string
		want    []view.Annotation
	}{
		"of Go":               {begun + failed(`--- FAIL: TestCart\n    cart_test.go:12: boom`) + ended, at("cart_test.go", 12)},
		"of a compiler":       {begun + failed(`./shop/cart.c:7:3: error`) + ended, at("shop/cart.c", 7)},
		"no line is blamed":   {begun + failed(`not ok`) + ended, at("", 0)},
		"above the project":   {begun + failed(`../secret.go:1: x\na/../b.go:2: x\nc.go:3: x`) + ended, at("c.go", 3)},
		"of the machine":      {begun + failed(`/etc/passwd:1: x\nhttps://evil.example:80`) + ended, at("", 0)},
		"a line without end":  {begun + failed(`a.go:99999999999: x\na.go:0: x`) + ended, at("", 0)},
		"green":               {begun + `{"type":"check_ended","where":"work","name":"test","command":"make test","passed":true}` + ended, []view.Annotation{stopped}},
		"no verdict":          {begun + failed(`a.go:1: x`) + "\n" + `{"type":"run_stopped","reason":"cancelled"}`, []view.Annotation{{Title: "ralph cancelled", Text: "cancelled, by request. Next: comment `/ralph` to go on", Notice: true}}},
		"what was red before": {`{"type":"check_ended","where":"base","name":"test","command":"make test","exit":1}` + "\n" + begun[len(`{"type":"check_ended","where":"base","name":"test","command":"make test","passed":true}`)+1:] + failed(`a.go:1: x`) + ended, []view.Annotation{stopped}},
	} {
		if diff := cmp.Diff(c.want, view.Annotations(journaltest.Run(t, []byte(c.journal)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
