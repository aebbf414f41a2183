package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

func drafted(t *testing.T, body string) plan.Plan {
	t.Helper()
	p, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Number: 12, Title: "A shop", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The first block with stories counts, with or without a language.
func TestDraftTakesTheFirstBlockOfStories(t *testing.T) {
	block := func(language, id string) string {
		return fmt.Sprintf("```%s\n{\"userStories\":[{\"id\":%q,\"title\":\"A cart\",\"acceptanceCriteria\":[\"adds\"]}]}\n```\n\n", language, id)
	}
	for _, languages := range [][2]string{{"prd", "json"}, {"json", "prd"}, {"", "json"}, {"PRD", ""}} {
		if got := drafted(t, block(languages[0], "US-001")+block(languages[1], "US-002")).UserStories; got[0].ID != "US-001" {
			t.Errorf("%q: story %s", languages, got[0].ID)
		}
	}
	if got := drafted(t, block("go", "US-001")+block("json", "US-002")).UserStories; got[0].ID != "US-002" {
		t.Errorf("a block of another language is read: %s", got[0].ID)
	}
}

// A mark in brackets is not a criterion, and neither is an item that only has nested items.
func TestDraftTakesNoEmptyCriteria(t *testing.T) {
	p := drafted(t, "- [ ] The cart\n  - (needs no test)\n  -\n    - adds\n    - removes\n")
	want := []string{"adds", "removes"}
	if diff := cmp.Diff(want, p.UserStories[0].AcceptanceCriteria); diff != "" || !p.UserStories[0].Untested() {
		t.Errorf("untested %v, criteria (-want +got):\n%s", p.UserStories[0].Untested(), diff)
	}
}

func TestDraftKeepsTabsOfCode(t *testing.T) {
	p := drafted(t, "Do it.\r\n\r\n```make\r\na:\r\n\techo a\r\n```\r\n")
	if got := p.UserStories[0].Description; !strings.Contains(got, "a:\n\techo a\n") {
		t.Errorf("description = %q", got)
	}
}

// Only a passed story needs notes.
func TestAuditAsksOpenStoriesForNoNotes(t *testing.T) {
	story := `{"id":"US-001","title":"A cart","acceptanceCriteria":["adds"],"priority":1,"passes":%v,"notes":""}`
	whole := `{"project":"shop","branchName":"b","description":"d","userStories":[` + story + `]}`
	if _, err := plan.Audit("prd.json", fmt.Appendf(nil, whole, false)); err != nil {
		t.Errorf("Audit of an open story = %v", err)
	}
	if _, err := plan.Audit("prd.json", fmt.Appendf(nil, whole, true)); err == nil || !strings.Contains(err.Error(), "passes without notes") {
		t.Errorf("Audit of a passed story = %v", err)
	}
}

// The error names the kind of the wrong value.
func TestReadNamesWhatItFound(t *testing.T) {
	for found, text := range map[string]string{"true": "true", "false": "false", "an object": "{}", "a list": "[]", "12": "12"} {
		_, err := plan.Read("prd.json", []byte(`{"project":`+text+`,"userStories":[{"id":"US-001","title":"A cart","acceptanceCriteria":["adds"]}]}`))
		if want := "found " + found + ", want a string"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read with %s = %v, want %q", text, err, want)
		}
	}
}
