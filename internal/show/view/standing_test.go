package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

// The end of a run without success has an annotation, and so has each failed check of the last verdict.
func TestAnnotations(t *testing.T) {
	const begun = `{"type":"check_ended","where":"base","name":"test","command":"make test","passed":true}
{"type":"baseline_ended","usable":true}
{"type":"iteration_began","number":1,"story":"US-001"}
{"type":"agent_ended","tools":7}
`
	const ended = `
{"type":"iteration_ended","number":1,"story":"US-001"}
{"type":"run_stopped","reason":"max_iterations"}`
	const failed = `{"type":"check_ended","where":"work","name":"test","command":"make test","exit":1,"excerpt":"a.go:1: x"}`
	stopped := view.Annotation{Title: "ralph stopped", Text: "stopped, out of iterations. Next: comment `/ralph` to go on; the setting `limits.maxIterations` sets a higher limit"}
	red := []view.Annotation{stopped, {Title: "test failed", Text: "check test failed (exit 1) in the agent's tree, 0s"}}
	for name, c := range map[string]struct {
		journal string
		want    []view.Annotation
	}{
		"red":                 {begun + failed + ended, red},
		"green":               {begun + `{"type":"check_ended","where":"work","name":"test","command":"make test","passed":true}` + ended, []view.Annotation{stopped}},
		"no verdict":          {begun + failed + "\n" + `{"type":"run_stopped","reason":"cancelled"}`, []view.Annotation{{Title: "ralph cancelled", Text: "cancelled, by request. Next: comment `/ralph` to go on", Notice: true}}},
		"what was red before": {`{"type":"check_ended","where":"base","name":"test","command":"make test","exit":1}` + "\n" + begun[len(`{"type":"check_ended","where":"base","name":"test","command":"make test","passed":true}`)+1:] + failed + ended, []view.Annotation{stopped}},
	} {
		if diff := cmp.Diff(c.want, view.Annotations(journaltest.Run(t, []byte(c.journal)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
