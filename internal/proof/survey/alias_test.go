package survey_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/proof/survey"
)

// A workflow of some hundred bytes in which aliases stand for two million values is not readable, and takes no memory.
func TestWorkflowOfAliases(t *testing.T) {
	text := "l0: &l0 {k: [x, x, x, x, x, x, x, x]}\n"
	for i := range 6 {
		text += fmt.Sprintf("l%d: &l%d {k: [%s]}\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*l%d, ", i), 8))
	}
	text += "on: *l6\njobs: {test: {env: *l6, services: {db: *l6}, steps: [{run: make test, with: *l6}]}}\n"
	files := of(map[string]string{".github/workflows/ci.yml": text, "pnpm-workspace.yaml": text + "packages: *l6\n"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	names, found := survey.CI(files), survey.Propose(files)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 || len(names) > 0 || len(found.Ignored) != 1 {
		t.Errorf("%d bytes, %q, %q", took, names, found.Ignored)
	}
}
