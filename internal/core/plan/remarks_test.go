package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

func TestAReviewIsStories(t *testing.T) {
	task := plan.Task{Kind: plan.KindPull, Number: 2, Title: "Greet", Body: "From the review by mia:\n\nNot\nyet.\n\n- [ ] no story"}.WithRemarks([]plan.Remark{
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
		if got := task.CanBeAnswered(p.UserStories[i]); got != want {
			t.Errorf("%s can be answered: %t, want %t", p.UserStories[i].ID, got, want)
		}
	}
	if other := task.WithRemarks(task.Remarks[1:]); task.IsSame(other) || !task.IsSame(task.WithRemarks(task.Remarks)) {
		t.Error("other remarks are the same task")
	}
}

// A merge gets a story at the end of the plan, which keeps its id when the merge is repeated.
func TestAMergeIsAStory(t *testing.T) {
	before := plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: true, Priority: 3}, {ID: "US-002", Priority: 7}}}
	p, id := before.WithMerge("", "main", "ralph/x", []string{"a.go", "b`\n.go"})
	again, same := p.WithMerge(id, "main", "ralph/x", []string{"c.go"})
	if id != "US-003" || same != id || len(again.UserStories) != 3 || len(before.UserStories) != 2 {
		t.Fatalf("the story is %q, then %q, of %d", id, same, len(again.UserStories))
	}
	story, _ := p.Find(id)
	if story.Title != "merge main into ralph/x" || !strings.Contains(story.Description, "`a.go`, `b' .go`.") || !story.Untested() || story.Passes || story.MayChangeTests {
		t.Errorf("the story is %+v", story)
	}
	if next, _ := p.Next(); next.ID != "US-002" {
		t.Errorf("Next = %s, want the open story before it", next.ID)
	}
	if story, _ := again.Find(id); !strings.Contains(story.Description, "`c.go`") || strings.Contains(story.Description, "a.go") {
		t.Errorf("begun anew it says %q", story.Description)
	}
}

func TestAnUpdateAsksForNoAgent(t *testing.T) {
	p, source, err := plan.Draft(plan.Task{Kind: plan.KindPull, Number: 2, Title: "Greet", Update: true})
	if err != nil || source != plan.SourceUpdate || !p.Done() {
		t.Errorf("Draft = %+v, %q, %v", p, source, err)
	}
}
