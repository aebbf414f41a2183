package confine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// What an agent left instead of git's configuration is not what the next
// command finds: after a thing that could not be put back nothing is run.
func TestNothingRunsAfterWhatWasNotPutBack(t *testing.T) {
	ran := 0
	endings := []error{nil, errors.New("killed"), fmt.Errorf("config: %w", putback.ErrNotPutBack), nil}
	run, told := confine.Whole(func(context.Context, process.Command) (process.Result, error) {
		ran++
		return process.Result{Exit: ran}, endings[ran-1]
	})
	for i, want := range []error{nil, endings[1], putback.ErrNotPutBack, putback.ErrNotPutBack, putback.ErrNotPutBack} {
		if _, err := run(t.Context(), process.Command{}); !errors.Is(err, want) {
			t.Errorf("command %d: %v, want %v", i+1, err, want)
		}
	}
	if all := told(); len(all) != 1 || !strings.HasPrefix(all[0].(journal.Noted).What, "config: ") {
		t.Errorf("people are told %v, want one note of what was not put back", all)
	}
	if ran != 3 {
		t.Errorf("%d commands were run, want 3", ran)
	}
}
