package githubtest

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
)

// User is an account.
type User struct {
	ID    int64
	Login string
	Kind  string // User, Bot or Organization; by default told from the login
}

func (s *Server) user(login string) *User {
	if user := s.findUser(login); user != nil {
		return user
	}
	user := &User{ID: s.nextID(), Login: login, Kind: "User"}
	if strings.HasSuffix(login, "[bot]") {
		user.Kind = "Bot"
	}
	if s.users == nil {
		s.users = map[string]*User{}
	}
	s.users[strings.ToLower(login)] = user
	return user
}

func (s *Server) findUser(login string) *User { return s.users[strings.ToLower(login)] }

// nodeID looks like GitHub's: a short kind, then something opaque.
func nodeID(kind string, id int64) string {
	return kind + "_kwDO" + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%06d", id))
}

// userJSON returns the short form of an account that stands in other answers.
func (s *Server) userJSON(login string) object {
	user := s.user(login)
	base := s.api("/users/" + url.PathEscape(user.Login))
	page := s.URL + "/" + user.Login
	if app, isBot := strings.CutSuffix(user.Login, "[bot]"); isBot {
		page = s.URL + "/apps/" + app
	}
	return object{
		"login": user.Login, "id": user.ID, "node_id": nodeID("U", user.ID), "gravatar_id": "",
		"avatar_url": fmt.Sprintf("%s/avatars/u/%d?v=4", s.URL, user.ID), "url": base, "html_url": page,
		"followers_url": base + "/followers", "following_url": base + "/following{/other_user}",
		"gists_url": base + "/gists{/gist_id}", "starred_url": base + "/starred{/owner}{/repo}",
		"subscriptions_url": base + "/subscriptions", "organizations_url": base + "/orgs",
		"repos_url": base + "/repos", "events_url": base + "/events{/privacy}",
		"received_events_url": base + "/received_events", "type": user.Kind, "user_view_type": "public",
		"site_admin": false,
	}
}

// api returns the address of a REST path.
func (s *Server) api(path string) string { return s.URL + "/api/v3" + path }
