package doctor

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

// rules returns what rulesets and branch protection have against pushes to the branch.
func (g GitHub) rules(ctx context.Context) []Finding {
	what := "the branch " + g.Branch
	exists, protected, err := g.Client.HasBranch(ctx, g.Branch)
	if err != nil {
		return []Finding{passing(what, err)}
	}
	rules, err := g.Client.Rules(ctx, g.Branch)
	if err != nil {
		return []Finding{passing(what, err)}
	}
	var found []Finding
	for _, rule := range rules {
		f := g.effect(rule, exists)
		if f.Stops {
			bypasses, err := g.Client.Bypasses(ctx, rule.Ruleset)
			switch {
			case err != nil:
				f = Finding{Note: "not known: " + err.Error()}
			case bypasses:
				f = Finding{Note: "it has a ruleset, which lets this token push"}
			}
		}
		f.What = what + ", rule " + rule.Type
		found = append(found, f)
	}
	if protected && len(found) == 0 {
		found = append(found, Finding{
			What: what,
			Note: "it is protected by a rule that only its administrators can read: a push may be refused",
		})
	}
	if len(found) == 0 {
		found = []Finding{{What: what}}
	}
	return found
}

// effect returns what a rule means for ralph, which creates a branch and pushes to it without force.
func (g GitHub) effect(rule github.Rule, branchExists bool) Finding {
	stop := func(gap, remedy string) Finding {
		return Finding{Gap: gap, Remedy: remedy, Stops: true}
	}
	exempt := fmt.Sprintf(
		"exclude it from the ruleset of %s, let the token bypass it, or choose another `github.branchPrefix`",
		cmp.Or(rule.Source, "the repository"))
	switch rule.Type {
	case "deletion",
		"non_fast_forward",
		"max_file_size",
		"file_path_restriction",
		"file_extension_restriction",
		"max_file_path_length":
		return Finding{}
	case "creation":
		if branchExists {
			return Finding{}
		}
		return stop("no one can create it", exempt)
	case "update":
		return stop("no one can push to it", exempt)
	case "pull_request", "merge_queue":
		return stop("it accepts changes only through pull requests", exempt)
	case "required_status_checks", "workflows", "required_deployments", "code_scanning":
		return stop("it accepts only commits that other workflows have checked", exempt)
	case "required_signatures":
		if g.Signed {
			return Finding{}
		}
		return stop("it accepts only signed commits", "set `github.commitSigning` to `github`, or "+exempt)
	case "required_linear_history":
		return Finding{Note: "it accepts no merges: if the base changes, ralph cannot update the work"}
	case "branch_name_pattern":
		if matches, known := matchesPattern(rule, g.Branch); known && !matches {
			return stop("this branch name is not allowed: "+pattern(rule), "choose another `github.branchPrefix`")
		}
		return Finding{}
	case "commit_message_pattern", "commit_author_email_pattern", "committer_email_pattern":
		return Finding{
			Note: "commits are refused unless they fit: " + pattern(rule) +
				"; tell the agent how, in its instructions",
		}
	}
	return Finding{Note: "ralph does not know this rule: a push may be refused"}
}

// matchesPattern compares text with a rule's pattern. It is not known for patterns that Go cannot read.
func matchesPattern(rule github.Rule, text string) (matches, known bool) {
	pattern := rule.Parameters.Pattern
	var found bool
	switch rule.Parameters.Operator {
	case "starts_with":
		found = strings.HasPrefix(text, pattern)
	case "ends_with":
		found = strings.HasSuffix(text, pattern)
	case "contains":
		found = strings.Contains(text, pattern)
	case "regex":
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return false, false
		}
		found = expression.MatchString(text)
	default:
		return false, false
	}
	return found != rule.Parameters.Negate, true
}

func pattern(rule github.Rule) string {
	not := ""
	if rule.Parameters.Negate {
		not = "not "
	}
	return fmt.Sprintf("%s%s %q", not, strings.ReplaceAll(rule.Parameters.Operator, "_", " "), rule.Parameters.Pattern)
}
