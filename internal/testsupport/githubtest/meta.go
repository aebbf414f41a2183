package githubtest

import (
	"net/http"
	"slices"
)

func getRateLimit(c *call) answer {
	limit, used, left := c.server.quota(c.token)
	core := object{"limit": limit, "used": used, "remaining": left, "reset": c.server.reset()}
	search := object{"limit": 30, "used": 0, "remaining": 30, "reset": c.server.reset()}
	return ok(object{"resources": object{"core": core, "search": search, "graphql": core}, "rate": core})
}

func getMeta(*call) answer {
	loopback := []string{"127.0.0.0/8"}
	return ok(object{
		"verifiable_password_authentication": false, "hooks": loopback, "web": loopback, "api": loopback, "git": loopback,
		"packages": loopback, "pages": loopback, "importer": loopback, "actions": loopback, "dependabot": loopback,
	})
}

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

func listStatuses(c *call) answer {
	return page(c, []object{}, func(o object) object { return o })
}

// A dispatch starts nothing here; the log of requests has what was asked for.
func dispatchRepo(c *call) answer {
	var asked struct {
		EventType string `json:"event_type"`
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if asked.EventType == "" {
		return fail(http.StatusUnprocessableEntity, "Invalid request.\n\n\"event_type\" wasn't supplied.")
	}
	return noContent()
}
