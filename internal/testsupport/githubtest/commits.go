package githubtest

import (
	"net/http"
	"strings"
)

// compareCommits returns what either of two branches or commits lacks of the other. The
// changed files, which GitHub shows on the first page, are left out.
func compareCommits(c *call) answer {
	base, head, _ := strings.Cut(c.params["basehead"], "...")
	base, head = resolve(c.repo, base), resolve(c.repo, head)
	common := c.server.ask(c.repo, "merge-base", base, head)
	if common == "" {
		return notFound()
	}
	added := strings.Fields(c.server.ask(c.repo, "rev-list", "--reverse", base+".."+head))
	missing := len(strings.Fields(c.server.ask(c.repo, "rev-list", head+".."+base)))
	status := "diverged"
	switch {
	case base == head:
		status = "identical"
	case missing == 0:
		status = "ahead"
	case len(added) == 0:
		status = "behind"
	}
	commits := []object{}
	for _, sha := range added {
		commits = append(commits, c.server.commitJSON(c.repo, sha))
	}
	at := "/" + c.repo.name() + "/compare/" + base + "..." + head
	page := c.server.URL + at
	return ok(object{
		"url": c.server.api("/repos" + at), "html_url": page, "permalink_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch",
		"base_commit": c.server.commitJSON(c.repo, base), "merge_base_commit": c.server.commitJSON(c.repo, common),
		"status": status, "ahead_by": len(added), "behind_by": missing, "total_commits": len(added), "commits": commits,
	})
}

// createCommit makes a commit in the caller's name. GitHub's signature is only
// claimed: it cannot be checked here.
func createCommit(c *call) answer {
	var asked struct {
		Message, Tree string
		Parents       []string
		Author        *struct{ Name, Email string }
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if c.server.ask(c.repo, "cat-file", "-t", asked.Tree) != "tree" {
		return fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
	}
	args := []string{"commit-tree", "-m", asked.Message}
	for _, parent := range asked.Parents {
		args = append(args, "-p", parent)
	}
	sha := c.server.ask(c.repo, append(args, asked.Tree)...)
	if sha == "" {
		return fail(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
	}
	whole := c.server.commitJSON(c.repo, sha)
	made := whole["commit"].(object)
	delete(made, "comment_count")
	made["sha"], made["node_id"], made["html_url"], made["parents"] = sha, whole["node_id"], whole["html_url"], whole["parents"]
	made["verification"] = object{"verified": asked.Author == nil, "reason": "valid", "signature": nil, "payload": nil, "verified_at": nil}
	return created(made)
}
