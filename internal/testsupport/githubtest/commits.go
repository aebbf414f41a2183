package githubtest

import (
	"net/http"
)

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
