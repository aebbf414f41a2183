package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// standing looks at a repository that has these rules for all branches.
func standing(t *testing.T, branch string, signed bool, rules ...githubtest.Rule) []doctor.Finding {
	t.Helper()
	s := &githubtest.Server{Now: time.Now, Temp: t.TempDir()}
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "shop", Dir: t.TempDir()})
	s.AddRuleset("acme/shop", githubtest.Ruleset{Branches: []string{"*/*"}, Rules: rules})
	s.AddToken("ghs_job", githubtest.Token{Login: "bot[bot]", Kind: githubtest.Job, Repos: []string{"acme/shop"}, Permissions: githubtest.WriteAll()})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	client, err := github.Connect(github.Access{Owner: "acme", Repo: "shop", BaseURL: s.URL + "/api/v3", Token: "ghs_job", Retry: &github.RetryPolicy{Tries: 1}})
	if err != nil {
		t.Fatal(err)
	}
	found := doctor.GitHub{Client: client, Clone: s.URL + "/acme/shop.git", Branch: branch, Signed: signed}.Push(t.Context())
	return found[1:] // the first is of the token
}

// Each rule that GitHub has is one that ralph keeps anyway, runs into, or tells of.
func TestRulesOfABranch(t *testing.T) {
	named := func(operator, pattern string, negate bool) map[string]any {
		return map[string]any{"operator": operator, "pattern": pattern, "negate": negate}
	}
	for name, c := range map[string]struct {
		rule   githubtest.Rule
		signed bool
		gap    string // with which no run gets anywhere
		note   string
	}{
		"nothing is forced":        {rule: githubtest.Rule{Type: "non_fast_forward"}},
		"nothing is deleted":       {rule: githubtest.Rule{Type: "deletion"}},
		"no new branches":          {rule: githubtest.Rule{Type: "creation"}, gap: "no one can create it"},
		"no pushes":                {rule: githubtest.Rule{Type: "update"}, gap: "no one can push to it"},
		"pull requests alone":      {rule: githubtest.Rule{Type: "pull_request"}, gap: "it accepts changes only through pull requests"},
		"checks before":            {rule: githubtest.Rule{Type: "required_status_checks"}, gap: "other workflows"},
		"signatures":               {rule: githubtest.Rule{Type: "required_signatures"}, gap: "signed"},
		"signatures, and they are": {rule: githubtest.Rule{Type: "required_signatures"}, signed: true},
		"no merges":                {rule: githubtest.Rule{Type: "required_linear_history"}, note: "it accepts no merges"},
		"a name that fits":         {rule: githubtest.Rule{Type: "branch_name_pattern", Parameters: named("starts_with", "ralph/", false)}},
		"one that does not":        {rule: githubtest.Rule{Type: "branch_name_pattern", Parameters: named("ends_with", "/x", false)}, gap: `ends with "/x"`},
		"one that must not":        {rule: githubtest.Rule{Type: "branch_name_pattern", Parameters: named("contains", "issue", true)}, gap: `not contains "issue"`},
		"one by an expression":     {rule: githubtest.Rule{Type: "branch_name_pattern", Parameters: named("regex", "^ralph/issue-[0-9]+$", false)}},
		"an unreadable one":        {rule: githubtest.Rule{Type: "branch_name_pattern", Parameters: named("regex", "(?<=x)", false)}},
		"messages":                 {rule: githubtest.Rule{Type: "commit_message_pattern", Parameters: named("regex", "^JIRA-", false)}, note: `regex "^JIRA-"`},
		"a rule of tomorrow":       {rule: githubtest.Rule{Type: "moon_phase"}, note: "does not know this rule"},
	} {
		t.Run(name, func(t *testing.T) {
			found := standing(t, "ralph/issue-7", c.signed, c.rule)
			if len(found) != 1 || !strings.HasSuffix(found[0].What, "rule "+c.rule.Type) {
				t.Fatalf("found %+v", found)
			}
			f := found[0]
			if f.Stops != (c.gap != "") || !strings.Contains(f.Gap, c.gap) || !strings.Contains(f.Note, c.note) || (f.Gap == "") != (c.gap == "") || (f.Note == "") != (c.note == "") {
				t.Errorf("found %+v, want the gap %q and the note %q", f, c.gap, c.note)
			}
			if f.Stops && f.Remedy == "" {
				t.Errorf("there is no remedy for %q", f.Gap)
			}
		})
	}
}
