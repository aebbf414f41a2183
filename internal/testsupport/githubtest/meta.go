package githubtest

import "net/http"

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
	return ok(object{
		"state": "pending", "statuses": []object{}, "sha": sha, "total_count": 0, "repository": c.server.repoJSON(c.repo),
		"commit_url": base, "url": base + "/status",
	})
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
