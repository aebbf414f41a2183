package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

// role is what a person may do, ascending.
var role = map[string]int{"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}

// level is what a permission of a token allows, ascending.
var level = map[string]int{"read": 1, "write": 2, "admin": 3}

// need is what an operation asks of its caller.
type need struct {
	scope string // of an App's token
	level string
	role  string // of a person
	by    string // "": anyone, "user": a person, "app": a JWT
}

func parseNeed(text string) need {
	if text == "user" || text == "app" || text == "" {
		return need{by: text}
	}
	grant, role, _ := strings.Cut(text, " ")
	scope, level, _ := strings.Cut(grant, ":")
	return need{scope: scope, level: level, role: role}
}

// admit finds who calls and what repository, and refuses as GitHub does: a
// repository that may not be seen is not there.
func (s *Server) admit(c *call, n need) *answer {
	if n.by == "app" {
		return s.admitApp(c)
	}
	if refused := s.authenticate(c); refused != nil {
		return refused
	}
	if n.by == "user" {
		return personOnly(c.token)
	}
	name, named := c.params["repo"]
	if !named {
		return nil
	}
	c.repo = s.repo(c.params["owner"] + "/" + name)
	if c.repo == nil || !s.sees(c.token, c.repo) {
		reply := notFound()
		return &reply
	}
	return s.permit(c, n)
}

func (s *Server) authenticate(c *call) *answer {
	secret := credential(c.request)
	if secret == "" {
		return nil
	}
	token, known := s.tokens[secret]
	if !known {
		reply := fail(http.StatusUnauthorized, "Bad credentials")
		return &reply
	}
	c.token = token
	s.used[secret]++
	if limit, used, _ := s.quota(token); s.RateLimit > 0 && used > limit {
		reply := fail(http.StatusForbidden, "API rate limit exceeded for "+token.Login+".")
		return &reply
	}
	return nil
}

func personOnly(token *Token) *answer {
	var reply answer
	switch {
	case token == nil:
		reply = fail(http.StatusUnauthorized, "Requires authentication")
	case token.Kind != Personal:
		reply = fail(http.StatusForbidden, inaccessible)
	default:
		return nil
	}
	return &reply
}

const inaccessible = "Resource not accessible by integration"

// permit holds the caller against what an operation needs.
func (s *Server) permit(c *call, n need) *answer {
	var reply answer
	switch {
	case c.token == nil && n.level == "read" && n.role == "read":
		return nil
	case c.token == nil:
		reply = fail(http.StatusUnauthorized, "Requires authentication")
	case c.token.Kind == Personal:
		if role[s.roleOf(c.repo, c.token.Login)] >= role[n.role] {
			return nil
		}
		reply = fail(http.StatusForbidden, "Must have admin rights to Repository.")
	default:
		if s.grants(c.token, c.repo, n.scope, n.level) || s.grantsAsPull(c, n) {
			return nil
		}
		reply = fail(http.StatusForbidden, inaccessible)
	}
	return &reply
}

// grantsAsPull lets pull_requests stand for issues where the issue is a pull.
func (s *Server) grantsAsPull(c *call, n need) bool {
	if n.scope != "issues" {
		return false
	}
	issue := c.issueOrNil()
	return issue != nil && issue.pull != nil && s.grants(c.token, c.repo, "pull_requests", n.level)
}

func (s *Server) grants(token *Token, r *repo, scope, wanted string) bool {
	if !token.covers(r) {
		return wanted == "read" && !r.Private
	}
	if scope == "metadata" {
		return true
	}
	return level[token.Permissions[scope]] >= level[wanted] || wanted == "read" && !r.Private
}

func (t *Token) covers(r *repo) bool {
	return t.Repos == nil || slices.ContainsFunc(t.Repos, func(name string) bool { return strings.EqualFold(name, r.name()) })
}

func (s *Server) sees(token *Token, r *repo) bool {
	switch {
	case !r.Private:
		return true
	case token == nil:
		return false
	case token.Kind == Personal:
		return role[s.roleOf(r, token.Login)] > 0
	}
	return token.covers(r)
}
