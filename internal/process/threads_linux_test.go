package process_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/ralph-loop/ralph/internal/process"
)

// As many calls as there are threads in reserve can wait without a new thread.
func TestReserveThreads(t *testing.T) {
	process.ReserveThreads()
	before := threads(t)
	if least := runtime.GOMAXPROCS(0) + 32; before < least {
		t.Errorf("there are %d threads, want %d", before, least)
	}
	process.ReserveThreads()               // takes all of them again
	if now := threads(t); now > before+2 { // the runtime's own
		t.Errorf("there are %d threads, and were %d", now, before)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
