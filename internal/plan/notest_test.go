package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Whoever writes the issue says which story can do without a test.
func TestDraftNeedsNoTest(t *testing.T) {
	for body, want := range map[string]bool{
		"- [ ] Mend the words in the docs (needs no test)":                                                                         true,
		"- [ ] Mend the words (no test needed) (depends on US-002)\n- [ ] Two":                                                     true,
		"- [ ] Mend the words (depends on US-002) [No tests needed]\n- [ ] Two":                                                    true,
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

// An agent may not say of its own story that it needs no test.
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
		"said as much": {nil, &yes, true},
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

// What an agent names as the tests of its criteria is taken as it is; where
// criteria had to be put back it stands at the wrong places, and goes.
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
