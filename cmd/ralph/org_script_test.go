package main_test

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// ruleset TYPE BRANCHES [BYPASS] makes a rule for branches that fit; TYPE may be
// TYPE=OPERATOR=PATTERN, required_status_checks=strict or pull_request=review.
func (v *scriptGitHub) ruleset(args []string) (string, error) {
	rule := githubtest.Rule{}
	words := strings.Split(args[0], "=")
	if rule.Type = words[0]; len(words) == 3 {
		rule.Parameters = map[string]any{"operator": words[1], "pattern": words[2], "negate": false}
	}
	switch strings.Join(words[1:], "") {
	case "strict":
		rule.Parameters = map[string]any{"strict_required_status_checks_policy": true, "required_status_checks": []any{}}
	case "review":
		rule.Parameters = map[string]any{
			"required_approving_review_count": 1, "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
			"require_last_push_approval": false, "required_review_thread_resolution": false,
		}
	}
	set := githubtest.Ruleset{Name: args[0], Branches: []string{args[1]}, Rules: []githubtest.Rule{rule}}
	v.AddRuleset(shop, set)
	return "", nil
}

// grant SCOPE=LEVEL… changes what the job's token may do; none takes a scope away.
func (v *scriptGitHub) grant(args []string) (string, error) {
	permissions := githubtest.WriteAll()
	for _, arg := range args {
		scope, level, _ := strings.Cut(arg, "=")
		permissions[scope] = level
	}
	v.AddToken(token, githubtest.Token{Login: bot, Kind: githubtest.Job, Repos: []string{shop}, Permissions: permissions})
	return "", nil
}
