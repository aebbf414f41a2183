package untrusted_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, done := untrusted.Patience(3*time.Second), 0
		for left.Spend(func() { time.Sleep(2 * time.Second) }) {
			done++
		}
		if done != 2 {
			t.Errorf("it was done %d times, want 2", done)
		}
	})
}
