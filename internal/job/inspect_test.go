package job_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/tamper"
)

// A test that is too large was compared by nobody, be it there still or gone.
// One that is new has nothing to be compared with, an empty one was read, and
// what is no test is no matter.
func TestUnread(t *testing.T) {
	empty, text := []byte{}, []byte("x")
	got := job.Unread(
		tamper.Change{Path: "large_test.go", Before: empty, After: empty, Unread: true},
		tamper.Change{Path: "tests/large.py", Before: text, After: empty, Unread: true},
		tamper.Change{Path: "gone_test.go", Before: empty, Unread: true},
		tamper.Change{Path: "large.go", Before: empty, After: empty, Unread: true},
		tamper.Change{Path: "testdata/large.json", Before: empty, After: empty, Unread: true},
		tamper.Change{Path: "new_test.go", After: empty, Unread: true},
		tamper.Change{Path: "mode_test.go", Before: empty, After: empty},
		tamper.Change{Path: "emptied_test.go", Before: text, After: empty},
	)
	if want := []string{"large_test.go", "tests/large.py", "gone_test.go"}; !slices.Equal(got, want) {
		t.Errorf("Unread = %q, want %q", got, want)
	}
}
