package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/plan"
)

func TestAReviewIsStories(t *testing.T) {
	task := plan.Task{Kind: plan.KindPull, Number: 2, Title: "Greet", Body: "From the review by mia:\n\nNot\nyet.\n\n- [ ] no story"}.Asked([]plan.Remark{
		{Text: "The check `unit` passes."},
		{By: "mia", Text: "Not\nyet."},
		{Thread: 13, Path: "b`.go", Line: 7, By: "ada", Text: "Why?"},
		{Thread: 12, Path: "a.go", Line: 9, By: "mia", Text: "Typo. " + strings.Repeat("x", 500)},
		{Thread: 11, Path: "a.go", Line: 2, By: "mia", Text: "Use\na map.\n```suggestion\nx\n```"},
		{Thread: 11, Path: "a.go", Line: 2, By: "ada", Text: "Agreed."},
	})
	p, source, err := plan.Draft(task)
	if err != nil || source != plan.SourceReview {
		t.Fatalf("Draft = %q, %v", source, err)
	}
	got := map[string][]string{}
	var titles []string
	for _, story := range p.UserStories {
		got[story.ID], titles = story.AcceptanceCriteria, append(titles, story.Title)
	}
	want := map[string][]string{
		"US-001": {"`a.go:2`: Use a map. ```suggestion x ``` (mia)", "`a.go:2`: Agreed. (ada)", "`a.go:9`: Typo. " + strings.Repeat("x", 393) + "… (mia)"},
		"US-002": {"`b'.go:7`: Why? (ada)"},
		"US-003": {"Not yet. (review by mia)"},
		"US-004": {"The check `unit` passes."},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("criteria (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.go: Use a map. ```suggestion x ```", "b'.go: Why?", "Review by mia: Not yet.", "Red checks: The check `unit` passes."}, titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
	for i, want := range []bool{true, true, true, false} {
		if got := task.Answered(p.UserStories[i]); got != want {
			t.Errorf("%s can be answered: %t, want %t", p.UserStories[i].ID, got, want)
		}
	}
	if other := task.Asked(task.Remarks[1:]); task.Same(other) || !task.Same(task.Asked(task.Remarks)) {
		t.Error("other remarks are the same task")
	}
}
