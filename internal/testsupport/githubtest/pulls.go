package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Pull is a pull request as people see it.
type Pull struct {
	Number    int
	NodeID    string
	Title     string
	Body      string
	Author    string
	State     string // open or closed
	Draft     bool
	Head      string // the branch
	HeadRepo  string // owner/name
	HeadSHA   string
	Base      string
	Labels    []string
	Reviewers []string
	URL       string // for people
	CreatedAt time.Time
	UpdatedAt time.Time
}

// pull is what a pull request has beyond its issue.
type pull struct {
	draft     bool
	head      string
	headRepo  string
	headSHA   string // kept, since a branch may be deleted
	base      string
	reviewers []string
	reviews   []Review
	threads   []ReviewComment
}

func (p *pull) page(s *Server, r *repo, i *issue) string {
	return fmt.Sprintf("%s/%s/pull/%d", s.URL, r.name(), i.Number)
}

// tip returns the commit of the head branch; a deleted branch leaves its last one.
func (s *Server) tip(p *pull) string {
	if from := s.repo(p.headRepo); from != nil {
		p.headSHA = cmp.Or(branch(from, p.head), p.headSHA)
	}
	return p.headSHA
}

func (s *Server) pullView(r *repo, i *issue) Pull {
	return Pull{
		Number: i.Number, NodeID: nodeID("PR", i.ID), Title: i.Title, Body: i.Body, Author: i.Author, State: i.State,
		Draft: i.pull.draft, Head: i.pull.head, HeadRepo: i.pull.headRepo, HeadSHA: s.tip(i.pull), Base: i.pull.base,
		Labels: slices.Clone(i.Labels), Reviewers: slices.Clone(i.pull.reviewers), URL: i.pull.page(s, r, i),
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
}

// pulls lists pull requests, newest first as GitHub does.
func (r *repo) pulls() []*issue {
	var found []*issue
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(r.issues))) {
		if i := r.issues[number]; i.pull != nil {
			found = append(found, i)
		}
	}
	return found
}

func listPulls(c *call) answer {
	query := c.request.URL.Query()
	state, base := cmp.Or(query.Get("state"), "open"), query.Get("base")
	owner, head, filtered := strings.Cut(query.Get("head"), ":")
	found := slices.DeleteFunc(c.repo.pulls(), func(i *issue) bool {
		// A head without an owner is ignored by GitHub, to many people's surprise.
		other := filtered && (i.pull.head != head || !strings.EqualFold(ownerOf(i.pull.headRepo), owner))
		return other || state != "all" && i.State != state || base != "" && i.pull.base != base
	})
	if query.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(c, found, func(i *issue) object { return c.server.pullJSON(c.repo, i) })
}

func ownerOf(name string) string {
	owner, _, _ := strings.Cut(name, "/")
	return owner
}

func (c *call) pullOrNil() *issue {
	if i := c.issueOrNil(); i != nil && i.pull != nil {
		return i
	}
	return nil
}

func getPull(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	return ok(c.server.fullPullJSON(c.repo, i))
}

func editPull(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	var asked struct{ Title, Body *string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if refused := c.mayEdit(i.Author, "write"); refused != nil {
		return *refused
	}
	if asked.Title != nil {
		i.Title = *asked.Title
	}
	if asked.Body != nil {
		i.Body = *asked.Body
	}
	i.UpdatedAt = c.server.now()
	return ok(c.server.fullPullJSON(c.repo, i))
}

func requestReviewers(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	var asked struct{ Reviewers []string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	for _, login := range asked.Reviewers {
		if strings.EqualFold(login, i.Author) {
			return fail(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author.")
		}
		if c.server.findUser(login) == nil || c.repo.association(login) == "NONE" {
			return fail(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the "+c.repo.name()+" repository.")
		}
	}
	for _, login := range asked.Reviewers {
		if !slices.Contains(i.pull.reviewers, login) {
			i.pull.reviewers = append(i.pull.reviewers, login)
		}
	}
	i.UpdatedAt = c.server.now()
	return answer{status: http.StatusCreated, body: c.server.pullJSON(c.repo, i)}
}
