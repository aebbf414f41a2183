package githubtest

import (
	"net/http"
	"slices"
	"strconv"
)

func createPull(c *call) answer {
	var asked struct {
		Title, Head, Base, Body string
		Draft                   bool
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	p, wrong := c.newPull(asked.Head, asked.Base)
	if wrong != nil {
		return *wrong
	}
	if asked.Title == "" {
		return invalid(problem{Resource: "PullRequest", Code: "missing_field", Field: "title"})
	}
	if asked.Draft && c.repo.NoDrafts {
		return fail(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	p.draft = asked.Draft
	made := c.server.newIssue(c.repo, Issue{Title: asked.Title, Body: asked.Body, Author: c.token.Login, Pull: true})
	made.pull = p
	return created(c.server.fullPullJSON(c.repo, made))
}

// newPull holds head and base against the repositories, in GitHub's words.
func (c *call) newPull(head, base string) (*pull, *answer) {
	refuse := func(p problem) (*pull, *answer) {
		p.Resource = "PullRequest"
		reply := invalid(p)
		return nil, &reply
	}
	if c.repo.NoActionsPulls && c.token.Kind == Job {
		reply := fail(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
		return nil, &reply
	}
	if branch(c.repo, head) == "" {
		return refuse(problem{Code: "invalid", Field: "head"})
	}
	if branch(c.repo, base) == "" {
		return refuse(problem{Code: "invalid", Field: "base"})
	}
	p := &pull{head: head, headRepo: c.repo.name(), headSHA: branch(c.repo, head), base: base}
	if c.server.ahead(c.repo, p) == 0 {
		return refuse(problem{Code: "custom", Message: "No commits between " + base + " and " + head})
	}
	if slices.ContainsFunc(c.repo.pulls(), func(i *issue) bool {
		return i.State == "open" && i.pull.head == head && i.pull.headRepo == p.headRepo && i.pull.base == base
	}) {
		return refuse(problem{Code: "custom", Message: "A pull request already exists for " + c.repo.Owner + ":" + head + "."})
	}
	return p, nil
}

// ahead counts the commits that a pull request brings. Without git, and between
// repositories, which do not share objects here, only equal tips bring none.
func (s *Server) ahead(r *repo, p *pull) int {
	base, head := branch(r, p.base), s.tip(p)
	if base == head {
		return 0
	}
	if count, err := strconv.Atoi(s.ask(r, "rev-list", "--count", base+".."+head)); err == nil {
		return count
	}
	return 1
}
