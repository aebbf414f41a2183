package proofcheck_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/proofcheck"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// A required check passes with success and with neutral: nothing else may lead there.
func TestConclusions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcome           checkout.Outcome
		conclusion, title string
		person            bool
	}{
		{checkout.Outcome{Result: journal.Proven, Tests: []string{"TestA", "TestB"}}, "success", "Proven: 2 tests fail on the base and pass with the change", false},
		{checkout.Outcome{Result: journal.Proven, Files: []string{"a_test.sh"}}, "success", "Proven: the new tests fail on the base and pass with the change", false},
		{checkout.Outcome{Result: journal.DocumentsOnly, Why: "only documents are changed"}, "neutral", "Documents only: only documents are changed", false},
		{checkout.Outcome{Result: journal.TestsOnly, Why: "only tests are changed"}, "neutral", "Tests only: only tests are changed", false},
		{checkout.Outcome{Result: journal.NoNewFailingTest, Why: "no test is added"}, "failure", "No new failing test: no test is added", false},
		{checkout.Outcome{Result: journal.Failed, Why: "go test failed"}, "failure", "Failed: go test failed", false},
		{checkout.Outcome{Result: journal.NeedsReview, Why: "a_test.go"}, "failure", "Needs review: a_test.go", true},
		{checkout.Outcome{Result: journal.Unknown, Why: "no check"}, "failure", "Unknown: no check", true},
		{checkout.Outcome{Result: "a new result"}, "failure", "Unknown:", false},
	} {
		check, person := proofcheck.Check(proofcheck.Facts{Outcome: c.outcome, Head: "abc", Line: func(string) int { return 0 }})
		if check.Conclusion != c.conclusion || check.Title != c.title || person != c.person || check.Head != "abc" || check.Name != "ralph/proof" {
			t.Errorf("%s: %q, %q, person %t", c.outcome.Result, check.Conclusion, check.Title, person)
		}
	}
}

// What a person has to look at is marked where the change touches it.
func TestNotes(t *testing.T) {
	t.Parallel()
	check, _ := proofcheck.Check(proofcheck.Facts{
		Outcome: checkout.Outcome{
			Result: journal.NeedsReview, Look: []journal.Look{{File: "a_test.go", Why: "TestA\nfails"}, {File: "gone_test.go", Why: "it is gone"}},
			Restored: []string{"Makefile"},
		},
		Line: func(file string) int { return map[string]int{"a_test.go": 7, "Makefile": 2}[file] },
	})
	want := []github.Note{
		{Path: "a_test.go", Line: 7, Message: "TestA fails"},
		{Path: "Makefile", Line: 2, Message: "This file is protected. The proof ran with the version of the base."},
	}
	if diff := cmp.Diff(want, check.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// Huge outcomes stay within what GitHub takes.
func TestLargeOutcomes(t *testing.T) {
	t.Parallel()
	o := checkout.Outcome{Result: journal.NeedsReview}
	for range 5000 {
		o.Look = append(o.Look, journal.Look{File: strings.Repeat("d/", 400), Why: strings.Repeat("why ", 400)})
		o.Untested = append(o.Untested, journal.Lines{File: strings.Repeat("u", 900), From: 1, To: 2})
		o.Restored = append(o.Restored, strings.Repeat("f", 900))
		o.Checks = append(o.Checks, checkout.Checked{Name: strings.Repeat("check ", 99)})
	}
	check, _ := proofcheck.Check(proofcheck.Facts{Outcome: o, Line: func(string) int { return 1 }})
	if len(check.Notes) != 50 || len(check.Summary) > 65_535 {
		t.Errorf("%d notes, %d characters", len(check.Notes), len(check.Summary))
	}
}

// A long claim leaves room for what a person has to look at, and shows no criterion without a proof.
func TestLongClaims(t *testing.T) {
	t.Parallel()
	story := plan.Story{Title: "Two", TestedBy: []string{"TestTwo"}}
	for range 200 {
		story.AcceptanceCriteria = append(story.AcceptanceCriteria, strings.Repeat("<", 160))
	}
	o := checkout.Outcome{Result: journal.NeedsReview, Why: "weaker", Tests: []string{"TestTwo"}, Look: []journal.Look{{File: "a_test.go", Why: "weaker"}}}
	for claim, want := range map[*plan.Story]string{&story: "| … and 30 more | | |", {Title: "Two"}: "| … and 10 more | | |"} {
		check, _ := proofcheck.Check(proofcheck.Facts{Outcome: o, From: "#7", Claim: slices.Repeat([]plan.Story{*claim}, 30), Line: func(string) int { return 0 }})
		if !strings.Contains(check.Summary, want) || !strings.Contains(check.Summary, "### Look at") || strings.Contains(check.Summary, "✅ `TestTwo`") {
			t.Errorf("%s", check.Summary)
		}
	}
}

// The claim is a list that people wrote.
func TestClaim(t *testing.T) {
	t.Parallel()
	prd := `{"project":"P","description":"D","userStories":[{"id":"US-001","title":"Two","description":"D","priority":1,"passes":false,"acceptanceCriteria":["two is there","three is not"],"testedBy":["TestTwo"]}]}`
	for body, want := range map[string][]string{
		"Just words.":                          nil,
		"- [ ] two exists\n- [ ] three exists": {"two exists: two exists.; by ", "three exists: three exists.; by "},
		prd:                                    {"Two: two is there, three is not; by TestTwo"},
	} {
		var got []string
		for _, story := range proofcheck.Claim(plan.Task{Title: "T", Body: body}) {
			text := story.Title + ": " + strings.Join(story.AcceptanceCriteria, ", ") + "; by " + strings.Join(story.TestedBy, ", ")
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", body, diff)
		}
	}
}

// The summary has the table of a pull request, and what a person should look at.
func TestSummary(t *testing.T) {
	t.Parallel()
	facts := proofcheck.Facts{
		Outcome: checkout.Outcome{
			Base: "b0", Head: "c1c1c1c1c1", Result: journal.Proven, Tests: []string{"shop.TestTwo", "shop.TestTen"},
			Checks:   []checkout.Checked{{Name: "make test", AtBase: true, Passed: true}, {Name: "lint", NotRun: true}},
			Untested: []journal.Lines{{File: "a.go", From: 1, To: 2}}, Tried: journal.Tried{ByTest: 3},
			Look:     []journal.Look{{File: "b.go", Why: "it is new"}},
			Restored: []string{"CODEOWNERS"},
		},
		Claim: []plan.Story{{Title: "Count @all", AcceptanceCriteria: []string{"two is there", "three is not"}, TestedBy: []string{"TestTwo", "TestThree"}}},
		From:  "#7",
		Line:  func(string) int { return 0 },
	}
	want := `| story and criteria | test that fails without it | commit |
|---|---|---|
| ✅ **The whole change** | 'shop.TestTwo'<br>'shop.TestTen' | 'c1c1c1c' |
| Count '@'all<br>• two is there ✅ 'shop.TestTwo'<br>• three is not |  |  |

✅ marks a criterion of #7 whose named test fails without the change. Compare the others with the tests.

### Checked on clean checkouts of 'c1c1c1c'

| check | without the change | with it |
|---|---|---|
| 'make test' | passed | passed |
| 'lint' | failed | not run |

The checks are those of 'b0', the commit where the change left the base branch.

### No test needs these lines

- 'a.go:1-2'

Changed places that a test needs: 3.

### Look at

- 'b.go': it is new

### Protected files

- 'CODEOWNERS'

The proof used their version on the base branch. A maintainer reads the change, and merges over this check.
`
	check, _ := proofcheck.Check(facts)
	if diff := cmp.Diff(strings.ReplaceAll(want, "'", "`"), check.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	facts.Outcome.Result, facts.Outcome.Why = journal.NoNewFailingTest, "no test is added"
	check, _ = proofcheck.Check(facts)
	if row := "| **The whole change** | No new failing test: no test is added | `c1c1c1c` |"; !strings.Contains(check.Summary, row) {
		t.Errorf("no %q in\n%s", row, check.Summary)
	}
}

// What another job hands over is read as a whole, or not at all.
func TestRead(t *testing.T) {
	t.Parallel()
	good := `{"pull":7,"outcome":{"base":"a","head":"b","result":"proven","tests":[],"files":[],"look":[],"untested":[],"untested_tried":{"by_test":0,"by_build":0},"restored":[],"checks":[]}}`
	if h, err := proofcheck.Read([]byte(good)); err != nil || h.Pull != 7 || h.Outcome.Result != journal.Proven {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{
		"", "[]", "{}", strings.Replace(good, "7", "0", 1), strings.Replace(good, `"proven"`, `"splendid"`, 1),
		strings.Replace(good, `"result":"proven",`, "", 1), strings.Replace(good, `"base"`, `"bass"`, 1),
	} {
		if h, err := proofcheck.Read([]byte(bad)); err == nil {
			t.Errorf("%s is read: %+v", bad, h)
		}
	}
}

// No matter what another job hands over, GitHub takes the check that is drawn from it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"pull":7,"outcome":{"base":"a","head":"b","result":"proven","tests":["T"],"files":["f"],"look":[{"kind":"k","file":"f","why":"w"}],"untested":[{"file":"f","from":1,"to":2}],"restored":["r"],"checks":[{"name":"c"}]}}`))
	f.Add([]byte(`{"pull":7,"outcome":{"result":"needs_review","why":"a\nb","look":[{"kind":"k","file":"f","why":"w"}],"untested":[{"file":"f","from":-1,"to":0}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := proofcheck.Read(data)
		if err != nil {
			return
		}
		check, _ := proofcheck.Check(proofcheck.Facts{Outcome: h.Outcome, Line: func(string) int { return 1 }})
		if len(check.Notes) > 50 || len(check.Summary) > 65_535 || strings.ContainsAny(check.Title, "\r\n") || !utf8.ValidString(check.Summary+check.Title) {
			t.Errorf("%d notes, %d characters, %q", len(check.Notes), len(check.Summary), check.Title)
		}
	})
}
