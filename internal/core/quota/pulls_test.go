package quota_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/quota"
)

func day(n int) time.Time { return time.Date(2026, 9, n, 0, 0, 0, 0, time.UTC) }

// A run and an end are entered once, however often they are told; a run after the end
// opens the pull request again, and each knows what the other said.
func TestPullsAreEnteredOnce(t *testing.T) {
	pull := quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: day(1)}
	first := quota.PullRun{ID: "issue-7", Agent: "claude", USD: new(1.0), Minutes: 4}
	more := quota.PullRun{ID: "issue-7", Agent: "claude", USD: new(1.5), Minutes: 6}
	second := quota.PullRun{ID: "pull-9", Agent: "claude", Minutes: 1}
	end := quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: day(1), End: quota.Merged, Ended: day(3)}

	book := quota.Book{}.Worked(pull, first, day(1)).Worked(pull, more, day(1))
	again := quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: day(2)}
	book = book.Worked(again, second, day(2)).Over(end).Over(end)
	want := []quota.Pull{{
		Number: 9, Branch: "ralph/issue-7", Opened: day(1), Runs: []quota.PullRun{more, second}, End: quota.Merged, Ended: day(3),
	}}
	if diff := cmp.Diff(want, book.Pulls); diff != "" {
		t.Errorf("pulls (-want +got):\n%s", diff)
	}
	if late := book.Worked(again, second, day(2)); !cmp.Equal(book.Pulls, late.Pulls) {
		t.Errorf("closed while a run was at work on it, it is %+v", late.Pulls[0])
	}
	reopened := book.Worked(again, second, day(4))
	if p := reopened.Pulls[0]; p.End != "" || len(p.Runs) != 2 || !p.Opened.Equal(day(1)) {
		t.Errorf("opened again it is %+v", p)
	}
	if book.Pulls[0].End != quota.Merged {
		t.Error("a book changed with its copy")
	}
}
