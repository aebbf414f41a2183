package sandbox_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

// A signal of Go's scheduler in the middle of the question is no answer to it: the
// command of a sandbox would not be started.
func TestSignalsShutNoWire(t *testing.T) {
	times, err := sandbox.ShutWhile(200_000)
	if err != nil || times > 0 {
		t.Errorf("an open wire was said to be shut %d times, error %v, want 0", times, err)
	}
}
