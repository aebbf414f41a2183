package plan_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// A small issue form whose aliases expand to two million values uses little memory.
func TestFormOfAliases(t *testing.T) {
	form := "l0: &l0 [x, x, x, x, x, x, x, x]\n"
	for i := range 6 {
		form += fmt.Sprintf("l%d: &l%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*l%d, ", i), 8))
	}
	form += "body: [{type: input, attributes: {label: What, value: *l6}}]\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Number: 1, Title: "Ten", Body: "### What\n\nTen cost 90"}, []byte(form))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 || err != nil {
		t.Errorf("%d bytes, %v", took, err)
	}
}
