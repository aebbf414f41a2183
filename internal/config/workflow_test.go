package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/config"
)

// A workflow's own inputs are those of the step that works, as far as they stand
// there.
func TestInputsOfAWorkflow(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		want  map[string]string
	}{
		"ours": {
			"{uses: ralph-loop/ralph@v1, with: {checks: \"make test\\nmake lint\\n\", check-timeout: 5, draft: true, setup: ~, prompt: \"${{ inputs.prompt }}\"}}",
			map[string]string{"checks": "make test\nmake lint\n", "check-timeout": "5", "draft": "true"},
		},
		"on the machine":   {"{uses: ralph-loop/ralph/host@v1, with: {checks: a}}", map[string]string{"checks": "a"}},
		"a mirror's image": {"{uses: \"docker://here.example/ralph@sha256:1\", with: {checks: a}}", map[string]string{"checks": "a"}},
		"another's":        {"{uses: somebody/notralph@v1, with: {checks: a}}", map[string]string{}},
		"the one that works": {
			"{uses: ralph-loop/ralph@v1}, {uses: ralph-loop/ralph@v1, with: {checks: a, setup: b}}, {uses: ralph-loop/ralph@v1, with: {checks: c}}",
			map[string]string{"checks": "a", "setup": "b"},
		},
	} {
		got, err := config.OfWorkflow([]byte("jobs:\n  ralph:\n    steps: [" + c.steps + "]\n"))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, diff)
		}
	}
	for name, text := range map[string]string{"no YAML": "jobs: [", "too large": strings.Repeat("#", 40<<10)} {
		if _, err := config.OfWorkflow([]byte(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
