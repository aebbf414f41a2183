package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// The issue's author can mark a story that needs no test, or may change tests.
func TestDraftTakesMarks(t *testing.T) {
	for title, want := range map[string]plan.Story{
		"One":                                    {},
		"One (needs no test)":                    {NeedsTest: new(false)},
		"One (May change tests)":                 {MayChangeTests: true},
		"One (needs no test) (may change tests)": {NeedsTest: new(false), MayChangeTests: true},
		"One (may change tests)(needs no test)":  {NeedsTest: new(false), MayChangeTests: true},
		"One that needs no test":                 {},
		"(needs no test)":                        {},
	} {
		drafted, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Title: "Words", Body: "- [ ] " + title})
		if err != nil {
			t.Fatal(err)
		}
		got := drafted.UserStories[0]
		if got.Untested() != want.Untested() || got.MayChangeTests != want.MayChangeTests {
			t.Errorf("%s: drafted as %+v", title, got)
		}
		if strings.HasPrefix(title, "One (") && got.Title != "One" {
			t.Errorf("%s: the title is %q", title, got.Title)
		}
	}
}

// An agent cannot mark a story as one that needs no test, or may change tests.
func TestMergeKeepsMarks(t *testing.T) {
	story := func(id string, marked bool) plan.Story {
		story := plan.Story{ID: id, Title: "a", AcceptanceCriteria: []string{"b"}, MayChangeTests: marked}
		if marked {
			story.NeedsTest = new(false)
		}
		return story
	}
	for _, marked := range []bool{false, true} {
		kept := plan.Plan{UserStories: []plan.Story{story("US-001", marked)}}
		merged := plan.Merge(kept, plan.Plan{UserStories: []plan.Story{story("US-001", !marked), story("US-002", true)}})
		want := []plan.Story{story("US-001", marked), story("US-002", false)}
		if diff := cmp.Diff(want, merged.Plan.UserStories); diff != "" || len(merged.Undone) != 4 {
			t.Errorf("undone %q (-want +got):\n%s", merged.Undone, diff)
		}
	}
}

// Merge takes the test names of an agent, unless it restores criteria: then their
// positions are wrong.
func TestMergeTakesTheNamesOfTests(t *testing.T) {
	kept := plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "a", AcceptanceCriteria: []string{"b", "c"}}}}
	proposed := func(criteria ...string) plan.Plan {
		return plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "a", AcceptanceCriteria: criteria, TestedBy: []string{"TestB", ""}}}}
	}
	if got := plan.Merge(kept, proposed("b", "c")).Plan.UserStories[0].TestedBy; !slices.Equal(got, []string{"TestB", ""}) {
		t.Errorf("tests %q", got)
	}
	if got := plan.Merge(kept, proposed("c")).Plan.UserStories[0].TestedBy; got != nil {
		t.Errorf("tests %q of criteria that stand elsewhere", got)
	}
}
