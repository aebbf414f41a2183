package job_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/tamper"
)

// A test that is too large on both sides was compared by nobody. What is new,
// gone or emptied is there to be seen, and what is no test is no matter.
func TestUnread(t *testing.T) {
	empty, text := []byte{}, []byte("x")
	got := job.Unread(
		tamper.Change{Path: "large_test.go", Before: empty, After: empty},
		tamper.Change{Path: "tests/large.py", Before: empty, After: empty},
		tamper.Change{Path: "large.go", Before: empty, After: empty},
		tamper.Change{Path: "testdata/large.json", Before: empty, After: empty},
		tamper.Change{Path: "new_test.go", After: empty},
		tamper.Change{Path: "gone_test.go", Before: empty},
		tamper.Change{Path: "emptied_test.go", Before: text, After: empty},
		tamper.Change{Path: "filled_test.go", Before: empty, After: text},
	)
	if want := []string{"large_test.go", "tests/large.py"}; !slices.Equal(got, want) {
		t.Errorf("Unread = %q, want %q", got, want)
	}
}
