package githubtest

import (
	"path"
	"slices"
)

// Ruleset is rules for branches whose names fit one of the patterns. The stand-in
// tells of them; what a push is refused for is Server.RefusePush's to say.
type Ruleset struct {
	Name     string
	Branches []string // as path.Match has them, without refs/heads/
	Rules    []Rule
}

// Rule is one, by GitHub's name for its kind.
type Rule struct {
	Type       string
	Parameters map[string]any
}

// AddRuleset makes a ruleset in a repository.
func (s *Server) AddRuleset(name string, set Ruleset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	r.Rulesets = append(r.Rulesets, set)
}

func (r Ruleset) covers(branch string) bool {
	return slices.ContainsFunc(r.Branches, func(pattern string) bool {
		fits, err := path.Match(pattern, branch)
		return fits && err == nil
	})
}

func listRules(c *call) answer {
	rules := []object{}
	for i, set := range c.repo.Rulesets {
		if !set.covers(c.params["branch"]) {
			continue
		}
		for _, rule := range set.Rules {
			shown := object{"type": rule.Type, "ruleset_source_type": "Repository", "ruleset_source": c.repo.name(), "ruleset_id": i + 1}
			if rule.Parameters != nil {
				shown["parameters"] = rule.Parameters
			}
			rules = append(rules, shown)
		}
	}
	return page(c, rules, func(rule object) object { return rule })
}

// getWorkflowPermissions is for those alone who may see the settings; a job's
// token never may.
func getWorkflowPermissions(c *call) answer {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !c.repo.NoActionsPulls})
}
