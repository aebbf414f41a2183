package quota_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/quota"
)

func day(n int) time.Time { return time.Date(2026, 9, n, 0, 0, 0, 0, time.UTC) }

// A run and an end are entered once, however often they are told; a run after the end
// opens the pull request again, and each knows what the other said.
func TestPullsAreEnteredOnce(t *testing.T) {
	pull := quota.Pull{Number: 9, Issue: 7, Branch: "ralph/issue-7", Opened: day(1)}
	first := quota.PullRun{ID: "issue-7", Agent: "claude", USD: new(1.0), Minutes: 4, Suites: 2}
	more := quota.PullRun{ID: "issue-7", Agent: "claude", USD: new(1.5), Minutes: 6, Suites: 3}
	second := quota.PullRun{ID: "pull-9", Agent: "claude", Minutes: 1}
	end := quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: day(1), End: quota.Changed, Ended: day(3), Head: "abc"}

	book := quota.Book{}.Worked(pull, first).Worked(pull, more)
	again := quota.Pull{Number: 9, Branch: "ralph/issue-7", Opened: day(2)}
	book = book.Worked(again, second).Over(end).Over(end)
	want := []quota.Pull{{
		Number: 9, Issue: 7, Branch: "ralph/issue-7", Opened: day(1), Runs: []quota.PullRun{more, second}, End: quota.Changed, Ended: day(3), Head: "abc",
	}}
	if diff := cmp.Diff(want, book.Pulls); diff != "" {
		t.Errorf("pulls (-want +got):\n%s", diff)
	}
	reopened := book.Worked(again, second)
	if p := reopened.Pulls[0]; p.End != "" || len(p.Runs) != 2 || p.Issue != 7 || !p.Opened.Equal(day(1)) {
		t.Errorf("opened again it is %+v", p)
	}
	if book.Pulls[0].End != quota.Changed {
		t.Error("a book changed with its copy")
	}
}

// What ended long ago is due once, and leaves a branch to another that uses it.
func TestPullsAreDueOnce(t *testing.T) {
	book := quota.Book{}
	for _, p := range []quota.Pull{
		{Number: 1, Branch: "ralph/a", End: quota.Unchanged, Ended: day(1)},
		{Number: 2, Branch: "ralph/b", End: quota.Closed, Ended: day(20)},
		{Number: 3, Branch: "ralph/c", End: quota.Closed, Ended: day(1)},
		{Number: 4, Branch: "ralph/c"},
		{Number: 5, Branch: "ralph/d", End: quota.Closed, Ended: day(1)},
		{Number: 6, Branch: "ralph/d", End: quota.Closed, Ended: day(20)},
	} {
		book = book.Over(p)
	}
	got := map[int]string{}
	due := book.Due(day(10))
	for _, p := range due {
		got[p.Number] = p.Branch
	}
	if diff := cmp.Diff(map[int]string{1: "ralph/a", 3: "", 5: ""}, got); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	if left := book.Sweep(due).Due(day(10)); len(left) != 0 {
		t.Errorf("still due: %+v", left)
	}
}
