package githubtest

import (
	"encoding/json"
	"net/http"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

var (
	mutation = pattern.Of(`\b(markPullRequestReadyForReview|convertPullRequestToDraft|resolveReviewThread)\b`)
	subject  = pattern.Of(`(?:pullRequestId|threadId):\s*\$(\w+)`)
)

// query is a GraphQL request.
type query struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

// node returns the pull request or the thread that a mutation names.
func (q query) node() string {
	found := subject.FindStringSubmatch(q.Query)
	if found == nil {
		return ""
	}
	id, _ := q.Variables[found[1]].(string)
	return id
}

// serveGraphQL knows the mutations for which REST has no endpoint.
func (s *Server) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	var asked query
	err := json.NewDecoder(r.Body).Decode(&asked)
	s.reply(w, &call{server: s, request: r}, func(c *call) answer {
		refused := s.authenticate(c)
		switch {
		case refused != nil:
			return *refused
		case c.token == nil:
			return fail(http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
		case err != nil:
			return fail(http.StatusBadRequest, "Problems parsing JSON")
		}
		return ok(s.mutate(c, asked))
	})
}

func (s *Server) mutate(c *call, asked query) object {
	name := mutation.FindString(asked.Query)
	if threads, is := s.answerTo(c, asked); is {
		return threads
	}
	if name == "" {
		return object{"errors": []object{{
			"message": "The stand-in has no such field", "path": []string{"mutation"},
			"extensions": object{"code": "undefinedField"}, "locations": []object{{"line": 1, "column": 1}},
		}}}
	}
	if name == "resolveReviewThread" {
		return s.resolve(c, asked)
	}
	r, i := s.byNode(asked.node())
	if i == nil || !c.token.sees(r) {
		return refusal(name, "NOT_FOUND", "Could not resolve to a node with the global id of '"+asked.node()+"'.")
	}
	c.repo = r
	if c.permit(need{scope: "pull_requests", level: "write", role: "write"}) != nil {
		return refusal(name, "FORBIDDEN", inaccessible)
	}
	draft := name == "convertPullRequestToDraft"
	if draft && r.NoDrafts {
		return refusal(name, "UNPROCESSABLE", "Draft pull requests are not supported in this repository.")
	}
	i.pull.draft, i.UpdatedAt = draft, s.now()
	return object{"data": object{name: object{"clientMutationId": nil, "pullRequest": object{"isDraft": draft}}}}
}

// byNode finds the pull request with a node id.
func (s *Server) byNode(id string) (*repo, *issue) {
	for _, r := range s.repos {
		for _, i := range r.issues {
			if i.pull != nil && nodeID("PR", i.ID) == id {
				return r, i
			}
		}
	}
	return nil, nil
}

// refusal returns how GraphQL says no: 200, a null and the reason.
func refusal(name, kind, message string) object {
	return object{
		"data": object{name: nil},
		"errors": []object{{
			"type": kind, "path": []string{name}, "message": message, "locations": []object{{"line": 1, "column": 1}},
		}},
	}
}
