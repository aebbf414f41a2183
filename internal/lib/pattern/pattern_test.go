package pattern_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// A malformed expression is found when it is used, not when the program starts.
func TestPatternIsCompiledOnUse(t *testing.T) {
	p := pattern.Of(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a malformed expression matches")
		}
	}()
	p.MatchString("x")
}
