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
	by    string // "": anyone, "app": a JWT
}

func parseNeed(text string) need {
	if text == "app" || text == "" {
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
	name, named := c.params["repo"]
	if !named {
		return nil
	}
	c.repo = s.repo(c.params["owner"] + "/" + name)
	if c.repo == nil || !c.token.sees(c.repo) {
		reply := notFound()
		return &reply
	}
	return c.permit(n)
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
	return nil
}

const inaccessible = "Resource not accessible by integration"

// permit holds the caller against what an operation needs.
func (c *call) permit(n need) *answer {
	var reply answer
	switch {
	case c.token == nil && n.level == "read" && n.role == "read":
		return nil
	case c.token == nil:
		reply = fail(http.StatusUnauthorized, "Requires authentication")
	case c.token.Kind == Personal:
		if !c.token.below(n.role, c.repo) {
			return nil
		}
		reply = fail(http.StatusForbidden, "Must have admin rights to Repository.")
	default:
		if c.token.grants(n.scope, n.level, c.repo) || c.grantsAsPull(n) {
			return nil
		}
		reply = fail(http.StatusForbidden, inaccessible)
	}
	return &reply
}

// grantsAsPull lets pull_requests stand for issues where the issue is a pull.
func (c *call) grantsAsPull(n need) bool {
	if n.scope != "issues" {
		return false
	}
	issue := c.issueOrNil()
	return issue != nil && issue.pull != nil && c.token.grants("pull_requests", n.level, c.repo)
}

// grants reports whether the permissions of a Job's or an Installation's token are
// enough. What is public may be read without any; settings are not.
func (t *Token) grants(scope, wanted string, r *repo) bool {
	public := wanted == "read" && !r.Private && scope != "administration"
	if !t.covers(r) {
		return public
	}
	if scope == "metadata" {
		return true
	}
	return level[t.Permissions[scope]] >= level[wanted] || public
}

func (t *Token) covers(r *repo) bool {
	return t.Repos == nil || slices.ContainsFunc(t.Repos, func(name string) bool { return strings.EqualFold(name, r.name()) })
}

// below reports whether a person's role is not enough. The token of a Job or an
// Installation has none: it is judged by what it grants.
func (t *Token) below(wanted string, r *repo) bool {
	return t.Kind == Personal && role[r.roleOf(t.Login)] < role[wanted]
}

// sees reports whether the caller may see the repository; nil: an anonymous
// caller.
func (t *Token) sees(r *repo) bool {
	switch {
	case !r.Private:
		return true
	case t == nil:
		return false
	case t.Kind == Personal:
		return !t.below("read", r)
	}
	return t.covers(r)
}

// mayEdit lets a person change what is their own, and others by role. An App's
// token was judged by its permissions before.
func (c *call) mayEdit(author, others string) *answer {
	mine := strings.EqualFold(c.token.Login, author)
	if mine || !c.token.below(others, c.repo) {
		return nil
	}
	reply := fail(http.StatusForbidden, "Must have admin rights to Repository.")
	return &reply
}
