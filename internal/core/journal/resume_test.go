package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

func TestResumeCommand(t *testing.T) {
	for want, resume := range map[string]journal.Resume{
		"ralph resume --json":                   {},
		"ralph resume -d ../shop --json":        {Dir: "../shop"},
		"ralph resume -d 'my shop' --json run1": {Dir: "my shop", ID: "run1"},
	} {
		if got := resume.Command("--json"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
