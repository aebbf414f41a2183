package githubtest

import (
	"slices"
)

func getStatus(c *call) answer {
	sha := resolve(c.repo, c.params["ref"])
	if sha == "" {
		return notFound()
	}
	base := c.server.api("/repos/" + c.repo.name() + "/commits/" + sha)
	states := []object{}
	for _, of := range c.repo.states {
		if of.SHA == sha {
			states = append(states, c.server.stateJSON(c.repo, of))
		}
	}
	return ok(object{
		"state": "pending", "statuses": states, "sha": sha, "total_count": len(states), "repository": c.server.repoJSON(c.repo),
		"commit_url": base, "url": base + "/status",
	})
}

// Status is what CI outside GitHub says of a commit.
type Status struct{ SHA, Context, State, Description string }

// SetStatus puts a status on a commit, in the place of one with the same context.
func (s *Server) SetStatus(name string, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	r.states = append(slices.DeleteFunc(r.states, func(of Status) bool { return of.SHA == status.SHA && of.Context == status.Context }), status)
}

func (s *Server) stateJSON(r *repo, of Status) object {
	return object{
		"id": 1, "node_id": nodeID("SC", 1), "url": s.api("/repos/" + r.name() + "/statuses/" + of.SHA), "avatar_url": s.URL, "target_url": nil,
		"state": of.State, "context": of.Context, "description": of.Description, "created_at": stamp(Epoch), "updated_at": stamp(Epoch),
	}
}
