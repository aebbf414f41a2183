package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// What people do without the API, and what they see. A repository or an issue
// that does not exist is a mistake in the test, and panics.

func (s *Server) mustRepo(name string) *repo {
	r := s.repo(name)
	if r == nil {
		panic("githubtest: no repository " + name)
	}
	return r
}

func (s *Server) mustIssue(name string, number int) (*repo, *issue) {
	r := s.mustRepo(name)
	i := r.issues[number]
	if i == nil {
		panic(fmt.Sprintf("githubtest: no issue %s#%d", name, number))
	}
	return r, i
}

// AddIssue opens an issue and returns it with its number. Stamps that are set
// are kept.
func (s *Server) AddIssue(name string, settings Issue) Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	settings.Author = cmp.Or(settings.Author, r.Owner)
	return s.newIssue(r, settings).copy()
}

// EditIssue changes title, body or state of an issue.
func (s *Server) EditIssue(name string, number int, touch func(*Issue)) Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, i := s.mustIssue(name, number)
	edited := i.copy()
	touch(&edited)
	if edited.Title != i.Title || edited.Body != i.Body {
		i.EditedAt = s.now()
	}
	if edited.State != i.State {
		i.ClosedAt = time.Time{}
		if edited.State == "closed" {
			i.ClosedAt = s.now()
		}
	}
	i.Title, i.Body = edited.Title, edited.Body
	i.State, i.MergedAt, i.UpdatedAt = edited.State, edited.MergedAt, s.now()
	return i.copy()
}

// AddLabel puts labels on an issue.
func (s *Server) AddLabel(name string, number int, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, i := s.mustIssue(name, number)
	for _, label := range labels {
		s.label(r, i, label)
	}
	i.UpdatedAt = s.now()
}

// AddComment writes a comment on the issue or pull request in comment.Issue.
func (s *Server) AddComment(name string, comment Comment) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.mustIssue(name, comment.Issue)
	comment.Author = cmp.Or(comment.Author, r.Owner)
	return s.newComment(r, comment).copy()
}

// EditComment replaces the text of a comment.
func (s *Server) EditComment(name string, id int64, body string) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	comment := s.mustRepo(name).comments[id]
	if comment == nil {
		panic(fmt.Sprintf("githubtest: no comment %d in %s", id, name))
	}
	comment.Body, comment.UpdatedAt = body, s.now()
	return comment.copy()
}

// AddPull opens a pull request between branches that need not exist.
func (s *Server) AddPull(name string, settings Pull) Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	made := s.newIssue(r, Issue{
		Title: settings.Title, Body: settings.Body, Author: cmp.Or(settings.Author, r.Owner), Labels: settings.Labels,
		Pull: true, CreatedAt: settings.CreatedAt, UpdatedAt: settings.UpdatedAt, State: settings.State,
	})
	made.pull = &pull{
		draft: settings.Draft, head: settings.Head, headRepo: cmp.Or(settings.HeadRepo, r.name()), headSHA: settings.HeadSHA,
		base: cmp.Or(settings.Base, r.DefaultBranch), reviewers: slices.Clone(settings.Reviewers),
	}
	return s.pullView(r, made)
}

// Retarget changes the base of a pull request.
func (s *Server) Retarget(name string, number int, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustRepo(name).issues[number].pull.base = base
}

// Issue returns an issue or the issue side of a pull request.
func (s *Server) Issue(name string, number int) (Issue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustRepo(name).issues[number]
	if i == nil {
		return Issue{}, false
	}
	return i.copy(), true
}

// Comments lists the comments of an issue or pull request, oldest first.
func (s *Server) Comments(name string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Comment
	for _, comment := range s.mustRepo(name).commentsOf(number) {
		found = append(found, comment.copy())
	}
	return found
}

// Comment returns one comment.
func (s *Server) Comment(name string, id int64) (Comment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	comment := s.mustRepo(name).comments[id]
	if comment == nil {
		return Comment{}, false
	}
	return comment.copy(), true
}

// Pulls lists all pull requests, oldest first.
func (s *Server) Pulls(name string) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	var found []Pull
	for _, i := range slices.Backward(r.pulls()) {
		found = append(found, s.pullView(r, i))
	}
	return found
}

// Pull returns one pull request.
func (s *Server) Pull(name string, number int) (Pull, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	i := r.issues[number]
	if i == nil || i.pull == nil {
		return Pull{}, false
	}
	return s.pullView(r, i), true
}
