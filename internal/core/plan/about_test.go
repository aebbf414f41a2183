package plan_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// An edit of an issue changes what a story means, unless it only concerns the items of other stories, or ticks boxes.
func TestWhatATaskSaysAboutAStory(t *testing.T) {
	about := func(body string) string {
		task := plan.Task{Title: "Work", Body: body}
		drafted, _, err := plan.Draft(task)
		if err != nil {
			t.Fatal(err)
		}
		return task.About(plan.Story{Title: "It greets", AcceptanceCriteria: []string{"In English"}}, drafted)
	}
	added := plan.Task{Title: "Work", Body: "Intro\n\nFrom the comment by wes:\n\nbow", Added: "From the comment by wes:\n\nbow"}
	if about("Intro") != added.About(plan.Story{Title: "It greets"}, plan.Plan{}) {
		t.Error("a comment that asks for more changed what a story means")
	}
	const list = "Intro\n\n- [ ] It greets\n  - [ ] In English\n- [ ] It waves\n"
	const parts = "## English\n\n- [ ] It greets\n\n## German\n\n- [ ] It waves\n"
	const headings = "## It greets\n\nAcceptance criteria:\n\n- [ ] In English\n\n## It waves\n\nAcceptance criteria:\n\n- [ ] Twice\n"
	for _, c := range []struct {
		why, was, old, now string
		same               bool
	}{
		{"an item more", list, "- [ ] It waves", "- [ ] It waves\n\n- [ ] It bows (needs no test)", true},
		{"an item above", list, "- [ ] It greets", "- [ ] US-007: It bows\n  low\n- [ ] It greets", true},
		{"an item less", list, "- [ ] It waves\n", "", true},
		{"another item changed", list, "waves", "[waves](http://localhost)\n\n  ```\n  twice\n  ```", true},
		{"boxes ticked", list, "[ ]", "[x]", true},
		{"a criterion of another story", headings, "- [ ] Twice", "- [x] Twice\n- [ ] Thrice", true},
		{"a criterion ticked", headings, "[ ] In", "[X] In", true},
		{"no test needed", list, "greets", "greets (needs no test)", true},
		{"a link", list, "greets", "[greets](http://localhost)", false},
		{"a link in a criterion", list, "English", "[English](http://localhost)", false},
		{"a mark", list, "greets", "greets (may change tests)", false},
		{"words below the item", list, "  - [ ] In", "  at noon\n  - [ ] In", false},
		{"another introduction", list, "Intro", "Outro", false},
		{"headings swapped", parts, "English", "German", false},
		{"moved below another heading", parts, "- [ ] It greets\n\n## German\n", "## German\n\n- [ ] It greets\n", false},
		{"an item of no story", "Languages:\n\n* English\n\n" + parts, "* English", "* German", false},
		{"a link in a criterion under a heading", headings, "In English", "In [English](http://localhost)", false},
	} {
		now := strings.ReplaceAll(c.was, c.old, c.now)
		if got := about(now) == about(c.was); got != c.same || now == c.was {
			t.Errorf("%s: same: %t, want %t\n%s\n---\n%s", c.why, got, c.same, about(c.was), about(now))
		}
	}
}
