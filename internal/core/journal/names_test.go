package journal_test

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

func TestNamesInWords(t *testing.T) {
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("t%d", i))
	}
	for want, tests := range map[string]*journal.Tests{
		"t0":                            {Red: names[:1]},
		"t0, t1, t2, t3, t4":            {Red: names[:3], Broken: names[3:5]},
		"t0, t1, t2, t3, t4 and more":   {Red: names[:5], Cut: true},
		"t0, t1, t2, t3, t4 and 1 more": {Red: names[:6]},
		"t0, t1, t2, t3, t4 and 2 more": {Red: names},
	} {
		if got := tests.FailureList(); got != want {
			t.Errorf("Told of %d = %q, want %q", len(tests.Failing()), got, want)
		}
	}
}
