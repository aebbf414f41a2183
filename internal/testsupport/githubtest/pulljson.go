package githubtest

import (
	"fmt"
	"maps"
)

// pullJSON returns a pull request as it stands in lists.
func (s *Server) pullJSON(r *repo, i *issue) object {
	api, issues := s.api(fmt.Sprintf("/repos/%s/pulls/%d", r.name(), i.Number)), s.api(fmt.Sprintf("/repos/%s/issues/%d", r.name(), i.Number))
	page, head := i.pull.page(s, r, i), s.tip(i.pull)
	body := s.issueJSON(r, i)
	labels := s.labelsJSON(r, i)
	for _, label := range labels { // the document has no null here
		if label["description"] == nil {
			label["description"] = ""
		}
	}
	body["labels"] = labels
	for _, field := range []string{
		"pull_request", "reactions", "repository_url", "labels_url", "events_url", "timeline_url", "comments",
		"performed_via_github_app", "state_reason", "closed_by",
	} {
		delete(body, field)
	}
	statuses := s.api("/repos/" + r.name() + "/statuses/" + head)
	maps.Copy(body, (object{
		"url": api, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "issue_url": issues,
		"commits_url": api + "/commits", "review_comments_url": api + "/comments",
		"review_comment_url": s.api("/repos/" + r.name() + "/pulls/comments{/number}"), "comments_url": issues + "/comments",
		"statuses_url": statuses, "merged_at": stampOrNull(i.MergedAt), "merge_commit_sha": nil, "auto_merge": nil, "draft": i.pull.draft,
		"requested_reviewers": s.usersJSON(i.pull.reviewers), "requested_teams": []object{},
		"head": s.sideJSON(s.repo(i.pull.headRepo), i.pull.head, head), "base": s.sideJSON(r, i.pull.base, branch(r, i.pull.base)),
		"_links": object{
			"self": link(api), "html": link(page), "issue": link(issues), "comments": link(issues + "/comments"),
			"review_comments": link(api + "/comments"), "commits": link(api + "/commits"), "statuses": link(statuses),
			"review_comment": link(s.api("/repos/" + r.name() + "/pulls/comments{/number}")),
		},
	}))
	return body
}

func link(to string) object { return object{"href": to} }

// sideJSON returns a head or a base; the head of a deleted fork has no repository.
func (s *Server) sideJSON(r *repo, branch, sha string) object {
	if r == nil {
		return object{"label": "unknown:" + branch, "ref": branch, "sha": sha, "user": nil, "repo": nil}
	}
	return object{
		"label": r.Owner + ":" + branch, "ref": branch, "sha": sha, "user": s.userJSON(r.Owner), "repo": s.repoJSON(r),
	}
}

// fullPullJSON returns the answer for one pull request: the list form and the sums.
func (s *Server) fullPullJSON(r *repo, i *issue) object {
	body := s.pullJSON(r, i)
	maps.Copy(body, (object{
		"merged": !i.MergedAt.IsZero(), "mergeable": nil, "mergeable_state": "unknown", "merged_by": nil,
		"comments": len(r.commentsOf(i.Number)), "review_comments": len(i.pull.threads), "maintainer_can_modify": false,
		"commits": s.ahead(r, i.pull), "changed_files": 0, "additions": 0, "deletions": 0,
	}))
	return body
}
