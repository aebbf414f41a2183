package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// The issue's author can mark a story that needs no test.
func TestDraftNeedsNoTest(t *testing.T) {
	for body, want := range map[string]bool{
		"- [ ] Mend the words in the docs (needs no test)":                                                                         true,
		"- [ ] Mend the words (no test needed)\n- [ ] Two":                                                                         true,
		"- [ ] Mend the words [No tests needed]\n- [ ] Two":                                                                        true,
		"- [ ] Mend the words\n  - the page says hello\n  - needs no test\n":                                                       true,
		"- [ ] Make the build work without tests":                                                                                  false,
		"- [ ] Say on the page that the shop needs no test":                                                                        false,
		"```json\n{\"userStories\":[{\"id\":\"US-001\",\"title\":\"a\",\"acceptanceCriteria\":[\"b\"],\"needsTest\":false}]}\n```": true,
		"```json\n{\"userStories\":[{\"id\":\"US-001\",\"title\":\"a\",\"acceptanceCriteria\":[\"b\"],\"needsTest\":true}]}\n```":  false,
	} {
		drafted, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Title: "Words", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		story := drafted.UserStories[0]
		if story.Untested() != want || strings.Contains(story.Title, "(no") || slices.Contains(story.AcceptanceCriteria, "needs no test") {
			t.Errorf("%s\ndrafted as %+v, want untested %v", body, story, want)
		}
	}
}

// An agent cannot mark a story as one that needs no test.
func TestMergeKeepsNeedsTest(t *testing.T) {
	no, yes := false, true
	for name, test := range map[string]struct {
		kept, proposed *bool
		undone         bool
	}{
		"alone":        {nil, nil, false},
		"kept":         {&no, new(false), false},
		"set":          {nil, &no, true},
		"taken away":   {&no, nil, true},
		"turned":       {&yes, &no, true},
		"said as much": {nil, &yes, false},
	} {
		story := func(needs *bool) plan.Plan {
			return plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "a", AcceptanceCriteria: []string{"b"}, NeedsTest: needs}}}
		}
		merged := plan.Merge(story(test.kept), story(test.proposed))
		if got := merged.Plan.UserStories[0].NeedsTest; (got == nil) != (test.kept == nil) || got != nil && *got != *test.kept || (len(merged.Undone) > 0) != test.undone {
			t.Errorf("%s: %v, undone %q", name, got, merged.Undone)
		}
	}
	fresh := plan.Story{ID: "US-002", Title: "mine", AcceptanceCriteria: []string{"c"}, NeedsTest: &no}
	kept := plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "a", AcceptanceCriteria: []string{"b"}}}}
	merged := plan.Merge(kept, plan.Plan{UserStories: append(slices.Clone(kept.UserStories), fresh)})
	if added, found := merged.Plan.Find("US-002"); !found || added.NeedsTest != nil || len(merged.Undone) != 1 {
		t.Errorf("a new story %+v, undone %q; want one that needs a test", added, merged.Undone)
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

func TestReadTestedBy(t *testing.T) {
	read := func(value string) (plan.Plan, error) {
		return plan.Read("prd.json", []byte(`{"userStories":[{"id":"US-001","title":"a","acceptanceCriteria":["b","c"],"testedBy":`+value+`}]}`))
	}
	p, err := read(`["TestB",""]`)
	if err != nil || !slices.Equal(p.UserStories[0].TestedBy, []string{"TestB", ""}) {
		t.Errorf("%+v, %v", p.UserStories, err)
	}
	if _, err := read(`["TestB",3]`); err == nil || !strings.Contains(err.Error(), "testedBy") {
		t.Errorf("a number as a name: %v", err)
	}
	if _, err := read(`"TestB"`); err == nil {
		t.Error("one name alone is no list")
	}
}

// The issue's author can mark a story that may change tests.
func TestDraftMayChangeTests(t *testing.T) {
	for body, want := range map[string]bool{
		"- [ ] Say goodbye instead of hello (may change tests)":   true,
		"- [ ] One (may change the tests)\n- [ ] Two":             true,
		"- [ ] One (needs no test) [may change tests]\n- [ ] Two": true,
		"- [ ] One (may change tests) (needs no test)":            true,
		"- [ ] One\n  - says goodbye\n  - may change tests\n":     true,
		"- [ ] No one may change tests here":                      false,
		"```json\n{\"userStories\":[{\"id\":\"US-001\",\"title\":\"a\",\"acceptanceCriteria\":[\"b\"],\"mayChangeTests\":true}]}\n```": true,
	} {
		drafted, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Title: "Words", Body: body})
		if err != nil {
			t.Fatal(err)
		}
		story := drafted.UserStories[0]
		if story.MayChangeTests != want || strings.Contains(story.Title, "(") || slices.Contains(story.AcceptanceCriteria, "may change tests") {
			t.Errorf("%s\ndrafted as %+v, want MayChangeTests %v", body, story, want)
		}
	}
}

// The story of a merge may not change tests, because no person allowed it.
func TestAMergeMayNotChangeTests(t *testing.T) {
	p, id := plan.Plan{}.WithMerge("", "main", "b", []string{"a.go"})
	if story, found := p.Find(id); !found || story.MayChangeTests || !story.Untested() {
		t.Errorf("the story of a merge is %+v", story)
	}
}

func TestMergeKeepsMayChangeTests(t *testing.T) {
	story := func(id string, may bool) plan.Story {
		return plan.Story{ID: id, Title: "a", AcceptanceCriteria: []string{"b"}, MayChangeTests: may}
	}
	for _, kept := range []bool{false, true} {
		merged := plan.Merge(plan.Plan{UserStories: []plan.Story{story("US-001", kept)}}, plan.Plan{UserStories: []plan.Story{story("US-001", !kept), story("US-002", true)}})
		for i, want := range []bool{kept, false} {
			if got := merged.Plan.UserStories[i].MayChangeTests; got != want {
				t.Errorf("kept %v: story %d may change tests: %v, want %v", kept, i+1, got, want)
			}
		}
		if len(merged.Undone) != 2 {
			t.Errorf("kept %v: undone %q, want both", kept, merged.Undone)
		}
	}
}
