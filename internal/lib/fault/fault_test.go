package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

func TestFaultsAreFoundThroughWrapping(t *testing.T) {
	stopped := &fault.Fault{What: "out of money", Fix: "raise --max-cost", Exit: fault.ExitStopped, Err: fs.ErrNotExist}
	for name, test := range map[string]struct {
		err  error
		exit int
		hint string
		text string
	}{
		"nothing":            {nil, 0, "", ""},
		"a plain error":      {fs.ErrNotExist, 2, "", "file does not exist"},
		"a fault":            {stopped, 1, "raise --max-cost", "out of money: file does not exist"},
		"wrapped":            {fmt.Errorf("run: %w", fmt.Errorf("iterate: %w", stopped)), 1, "raise --max-cost", "run: iterate: out of money: file does not exist"},
		"joined":             {errors.Join(fs.ErrClosed, stopped), 1, "raise --max-cost", "file already closed\nout of money: file does not exist"},
		"without a code":     {&fault.Fault{What: "odd"}, 2, "", "odd"},
		"a fault of a fault": {&fault.Fault{What: "outer", Fix: "first", Exit: fault.ExitInterrupted, Err: stopped}, 130, "first", "outer: out of money: file does not exist"},
		"usage with a cause": {fault.Usage("no agent", "install one", fs.ErrNotExist), 2, "install one", "no agent: file does not exist"},
		"usage":              {fault.Usage("no agent", "install one", nil), 2, "install one", "no agent"},
	} {
		if got := fault.Exit(test.err); got != test.exit {
			t.Errorf("%s: Exit = %d, want %d", name, got, test.exit)
		}
		if got := fault.Hint(test.err); got != test.hint {
			t.Errorf("%s: Hint = %q, want %q", name, got, test.hint)
		}
		if test.err != nil && test.err.Error() != test.text {
			t.Errorf("%s: Error = %q, want %q", name, test.err, test.text)
		}
	}
	for err, want := range map[error]string{
		fs.ErrNotExist:                 "file does not exist",
		fmt.Errorf("run: %w", stopped): "run: out of money: file does not exist – raise --max-cost",
	} {
		if got := fault.Told(err); got != want {
			t.Errorf("Told = %q, want %q", got, want)
		}
	}
	if !errors.Is(fmt.Errorf("run: %w", stopped), fs.ErrNotExist) {
		t.Error("the cause of a fault is not found")
	}
}
