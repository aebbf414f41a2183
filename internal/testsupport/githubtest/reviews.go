package githubtest

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Review is a person's judgement on a pull request.
type Review struct {
	ID     int64
	Author string
	State  string // APPROVED, CHANGES_REQUESTED or COMMENTED
	Body   string
	Commit string // empty means the head
	At     time.Time
}

// ReviewComment is a remark on a line of a pull request.
type ReviewComment struct {
	ID       int64
	Review   int64
	ReplyTo  int64
	Author   string
	Body     string
	Path     string
	Line     int
	Commit   string // that it was made on; empty means the head
	DiffHunk string
	Resolved bool // its thread, if it is the first there
	At       time.Time
	Edited   time.Time

	Reactions []Reaction
}

// AddReview puts a review, and its remarks, on a pull request.
func (s *Server) AddReview(name string, number int, review Review, remarks ...ReviewComment) Review {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, i := s.mustIssue(name, number)
	if i.pull == nil {
		panic(fmt.Sprintf("githubtest: %s#%d is not a pull request", name, number))
	}
	review.ID, review.State = s.nextID(), cmp.Or(strings.ToUpper(review.State), "COMMENTED")
	review.Commit = cmp.Or(review.Commit, s.tip(i.pull))
	if review.At.IsZero() {
		review.At = s.now()
	}
	s.user(review.Author)
	i.pull.reviews = append(i.pull.reviews, review)
	for _, remark := range remarks {
		remark.ID, remark.Review = s.nextID(), review.ID
		if remark.At.IsZero() {
			remark.At = review.At
		}
		remark.Author, remark.Commit = cmp.Or(remark.Author, review.Author), cmp.Or(remark.Commit, review.Commit)
		i.pull.threads = append(i.pull.threads, remark)
	}
	return review
}

func listReviews(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	return page(c, i.pull.reviews, func(review Review) object { return c.server.reviewJSON(c.repo, i, review) })
}

func listReviewComments(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	return page(c, i.pull.threads, func(remark ReviewComment) object { return c.server.remarkJSON(c.repo, i, remark) })
}

func (s *Server) reviewJSON(r *repo, i *issue, review Review) object {
	page, pull := i.pull.page(s, r, i), s.api(fmt.Sprintf("/repos/%s/pulls/%d", r.name(), i.Number))
	html := fmt.Sprintf("%s#pullrequestreview-%d", page, review.ID)
	return object{
		"id": review.ID, "node_id": nodeID("PRR", review.ID), "user": s.userJSON(review.Author), "body": review.Body,
		"state": review.State, "html_url": html, "pull_request_url": pull, "submitted_at": stamp(review.At),
		"commit_id": review.Commit, "author_association": r.association(review.Author),
		"_links": object{"html": link(html), "pull_request": link(pull)},
	}
}

func (s *Server) remarkJSON(r *repo, i *issue, remark ReviewComment) object {
	pull := s.api(fmt.Sprintf("/repos/%s/pulls/%d", r.name(), i.Number))
	base := s.api(fmt.Sprintf("/repos/%s/pulls/comments/%d", r.name(), remark.ID))
	html := fmt.Sprintf("%s#discussion_r%d", i.pull.page(s, r, i), remark.ID)
	body := object{
		"id": remark.ID, "node_id": nodeID("PRRC", remark.ID), "url": base, "html_url": html, "pull_request_url": pull,
		"pull_request_review_id": remark.Review, "diff_hunk": remark.DiffHunk, "path": remark.Path,
		"commit_id": s.tip(i.pull), "original_commit_id": cmp.Or(remark.Commit, s.tip(i.pull)), "user": s.userJSON(remark.Author),
		"body": remark.Body, "created_at": stamp(remark.At), "updated_at": stamp(later(remark.At, remark.Edited)),
		"author_association": r.association(remark.Author), "side": "RIGHT", "subject_type": "line",
		"start_line": nil, "original_start_line": nil, "start_side": nil, "line": remark.Line, "original_line": remark.Line,
		"position": 1, "original_position": 1,
		"_links": object{"self": link(base), "html": link(html), "pull_request": link(pull)},
	}
	if remark.ReplyTo != 0 {
		body["in_reply_to_id"] = remark.ReplyTo
	}
	return body
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
