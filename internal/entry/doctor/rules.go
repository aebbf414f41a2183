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
	there, protected, err := g.Client.HasBranch(ctx, g.Branch)
	if err != nil {
		return []Finding{passing(what, err)}
	}
	rules, err := g.Client.Rules(ctx, g.Branch)
	if err != nil {
		return []Finding{passing(what, err)}
	}
	var found []Finding
	for _, rule := range rules {
		f := g.judge(rule, there)
		if f.Stops {
			switch may, err := g.Client.Bypasses(ctx, rule.Ruleset); {
			case err != nil:
				f = Finding{Note: "not known: " + err.Error()}
			case may:
				f = Finding{Note: "it has a ruleset, which lets this token push"}
			}
		}
		f.What = what + ", rule " + rule.Type
		found = append(found, f)
	}
	if protected && len(found) == 0 {
		found = append(found, Finding{What: what, Note: "it is protected by a rule that only its administrators can read: a push may be refused"})
	}
	if len(found) == 0 {
		found = []Finding{{What: what}}
	}
	return found
}

// judge holds a rule against what ralph does: it makes a branch, and pushes to it without force.
func (g GitHub) judge(rule github.Rule, there bool) Finding {
	stop := func(gap, remedy string) Finding {
		return Finding{Gap: gap, Remedy: remedy, Stops: true}
	}
	exempt := fmt.Sprintf("exclude it from the ruleset of %s, let the token bypass it, or choose another `github.branchPrefix`", cmp.Or(rule.Source, "the repository"))
	switch rule.Type {
	case "deletion", "non_fast_forward", "max_file_size", "file_path_restriction", "file_extension_restriction", "max_file_path_length":
		return Finding{}
	case "creation":
		if there {
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
		if fits, known := fits(rule, g.Branch); known && !fits {
			return stop("this branch name is not allowed: "+pattern(rule), "choose another `github.branchPrefix`")
		}
		return Finding{}
	case "commit_message_pattern", "commit_author_email_pattern", "committer_email_pattern":
		return Finding{Note: "commits are refused unless they fit: " + pattern(rule) + "; tell the agent how, in its instructions"}
	}
	return Finding{Note: "ralph does not know this rule: a push may be refused"}
}

// fits holds text against a rule's pattern, as far as it can be understood here.
func fits(rule github.Rule, text string) (fits, known bool) {
	switch by := rule.Parameters; by.Operator {
	case "starts_with":
		fits = strings.HasPrefix(text, by.Pattern)
	case "ends_with":
		fits = strings.HasSuffix(text, by.Pattern)
	case "contains":
		fits = strings.Contains(text, by.Pattern)
	case "regex":
		wanted, err := regexp.Compile(by.Pattern)
		if err != nil {
			return false, false
		}
		fits = wanted.MatchString(text)
	default:
		return false, false
	}
	return fits != rule.Parameters.Negate, true
}

func pattern(rule github.Rule) string {
	not := ""
	if rule.Parameters.Negate {
		not = "not "
	}
	return fmt.Sprintf("%s%s %q", not, strings.ReplaceAll(rule.Parameters.Operator, "_", " "), rule.Parameters.Pattern)
}
