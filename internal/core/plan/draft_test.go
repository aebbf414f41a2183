package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Invisible text from a browser or a paste is removed.
func TestDraftReadsWhatPeopleSee(t *testing.T) {
	p, _, err := plan.Draft(plan.Task{Title: "Car\x1bt\x00", Body: "\uFEFF- [ ] o\x1bne\xff\n\tmore\r\n- [ ] two\x07  \r  and more\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Plan{Description: "Cart\n\n- [ ] one\uFFFD\n\tmore\n- [ ] two  \n  and more", UserStories: []plan.Story{
		{ID: "US-001", Title: "one\uFFFD more", AcceptanceCriteria: []string{"one\uFFFD more."}, Priority: 1},
		{ID: "US-002", Title: "two and more", AcceptanceCriteria: []string{"two and more."}, Priority: 2},
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("Draft (-want +got):\n%s", diff)
	}
}

// A plan that is too large to be read again is refused.
func TestDraftRefusesWhatCannotBeRead(t *testing.T) {
	body := "- [ ] " + strings.Repeat("\"", 60_000)
	long := strings.Repeat("word ", 220_000)
	if p, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Number: 7, Title: long, Body: body}); err == nil || !strings.HasPrefix(err.Error(), "issue #7: write plan: ") {
		t.Errorf("Draft = %d stories, %v, want an error that says for what", len(p.UserStories), err)
	}
}

// The first block with stories counts, with or without a language. Other languages do not.
func TestDraftTakesTheFirstBlockOfStories(t *testing.T) {
	block := func(language, id string) string {
		return fmt.Sprintf("```%s\n%s\n```\n\n", language, prd(strings.ReplaceAll(sketched, "US-001", id)))
	}
	for _, languages := range [][2]string{{"json", ""}, {"", "json"}} {
		body := block("go", "US-001") + block(languages[0], "US-002") + block(languages[1], "US-003")
		p, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Title: "A shop", Body: body})
		if err != nil || p.UserStories[0].ID != "US-002" {
			t.Errorf("%q: %+v, %v, want US-002", languages, p.UserStories, err)
		}
	}
}

// A prompt can name the branch. An issue or pull request cannot.
func TestDraftKeepsAPersonsBranch(t *testing.T) {
	body := `{"branchName":"ralph/cart","userStories":[{"id":"US-001","title":"one","acceptanceCriteria":["works"]}]}`
	for kind, want := range map[plan.Kind]string{plan.KindPrompt: "ralph/cart", plan.KindIssue: "", plan.KindPull: ""} {
		p, source, err := plan.Draft(plan.Task{Kind: kind, Body: body})
		if err != nil || source != plan.SourceJSON {
			t.Fatalf("Draft = %q, %v, want json", source, err)
		}
		if p.BranchName != want {
			t.Errorf("%s: BranchName = %q, want %q", kind, p.BranchName, want)
		}
	}
}

// The first line of a prompt is its title. Another title takes nothing from the text.
func TestDraftKeepsATextThatOnlyBeginsAsItsTitle(t *testing.T) {
	for title, want := range map[string]string{"Title": "Title: a shop\n\nIt sells.", "Title: a shop": "It sells."} {
		p, _, err := plan.Draft(plan.Task{Kind: plan.KindPrompt, Title: title, Body: "Title: a shop\n\nIt sells."})
		if err != nil || p.UserStories[0].Description != want {
			t.Errorf("title %q: %+v, %v, want the description %q", title, p.UserStories, err, want)
		}
	}
}

func TestDraftOfNothingSaysWhatToTry(t *testing.T) {
	_, _, err := plan.Draft(plan.Task{Kind: plan.KindPrompt, Body: " \n"})
	if err == nil || err.Error() != "nothing to plan in prompt" {
		t.Errorf("Draft: %v, want nothing to plan", err)
	}
	if fault.Hint(err) == "" || fault.Exit(err) != fault.ExitUsage {
		t.Errorf("Hint, Exit = %q, %d, want a hint and %d", fault.Hint(err), fault.Exit(err), fault.ExitUsage)
	}
}

func TestDraftRefusesTooMuch(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"characters": {strings.Repeat("wörd ", 60_000), "issue #7: found 300000 characters, want at most 65536"},
		"stories":    {strings.Repeat("- [ ] one\n", 201), "issue #7: found 201 stories, want at most 200"},
	}
	for name, test := range tests {
		_, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Number: 7, Title: "Cart", Body: test.body})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: Draft: %v, want %s", name, err, test.want)
		}
	}
}
