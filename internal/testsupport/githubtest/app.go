package githubtest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// App is a GitHub App with one installation.
type App struct {
	ID           int64
	Slug         string // its bot is Slug[bot]
	Owner        string
	Key          *rsa.PublicKey
	Installation int64
	Repos        []string // owner/name
	Permissions  map[string]string
}

// AddApp registers an App.
func (s *Server) AddApp(app App) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.register(app)
}

func (s *Server) register(app App) {
	if s.apps == nil {
		s.apps = map[int64]App{}
	}
	app.Repos, app.Permissions = slices.Clone(app.Repos), maps.Clone(app.Permissions)
	s.user(app.Owner)
	s.user(app.Slug + "[bot]")
	s.apps[app.ID] = app
}

// admitApp takes a JWT that was signed with an App's key.
func (s *Server) admitApp(c *call) *answer {
	claims, problem := s.verify(credential(c.request))
	if problem != "" {
		reply := fail(http.StatusUnauthorized, problem)
		return &reply
	}
	c.app = s.apps[claims.issuer]
	return nil
}

type claims struct {
	issuer   int64
	Issuer   json.RawMessage `json:"iss"`
	IssuedAt float64         `json:"iat"`
	Expires  float64         `json:"exp"`
}

const undecodable = "A JSON web token could not be decoded"

func (s *Server) verify(token string) (claims, string) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, undecodable
	}
	var found claims
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &found) != nil {
		return claims{}, undecodable
	}
	found.issuer, err = strconv.ParseInt(strings.Trim(string(found.Issuer), `"`), 10, 64)
	app, known := s.apps[found.issuer]
	if err != nil || !known {
		return claims{}, "'Issuer' claim ('iss') must be an Integer"
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(app.Key, crypto.SHA256, digest[:], signature) != nil {
		return claims{}, undecodable
	}
	return found, s.timely(found)
}

// timely holds the times of a JWT against the clock. A Server without one has
// only the span to judge by.
func (s *Server) timely(c claims) string {
	if c.Expires-c.IssuedAt > (11 * time.Minute).Seconds() {
		return "'Expiration time' claim ('exp') is too far in the future"
	}
	if s.Now == nil {
		return ""
	}
	now := float64(s.Now().Unix())
	switch {
	case c.Expires <= now:
		return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
	case c.IssuedAt > now+60:
		return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
	}
	return ""
}

func getInstallation(c *call) answer {
	name := c.params["owner"] + "/" + c.params["repo"]
	r := c.server.repo(name)
	if r == nil || !(&Token{Repos: c.app.Repos}).covers(r) {
		return notFound()
	}
	base := c.server.api(fmt.Sprintf("/app/installations/%d", c.app.Installation))
	return ok(object{
		"id": c.app.Installation, "account": c.server.userJSON(r.Owner), "repository_selection": "selected",
		"access_tokens_url": base + "/access_tokens", "repositories_url": c.server.api("/installation/repositories"),
		"html_url": fmt.Sprintf("%s/settings/installations/%d", c.server.URL, c.app.Installation), "app_id": c.app.ID,
		"target_id": c.server.user(r.Owner).ID, "target_type": c.server.user(r.Owner).Kind, "permissions": c.app.Permissions,
		"events": []string{}, "created_at": stamp(Epoch), "updated_at": stamp(Epoch), "single_file_name": nil,
		"has_multiple_single_files": false, "single_file_paths": []string{}, "app_slug": c.app.Slug, "suspended_by": nil,
		"suspended_at": nil,
	})
}

func createToken(c *call) answer {
	if c.number("installation_id") != c.app.Installation {
		return notFound()
	}
	var asked struct {
		Repositories []string          `json:"repositories"`
		Permissions  map[string]string `json:"permissions"`
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	repos := c.server.chosen(c.app, asked.Repositories)
	if repos == nil {
		return fail(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
	}
	for scope, wanted := range asked.Permissions {
		if level[c.app.Permissions[scope]] < level[wanted] {
			return fail(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
	}
	permissions := asked.Permissions
	if len(permissions) == 0 {
		permissions = c.app.Permissions
	}
	return c.server.issueToken(c.app, repos, permissions)
}

// chosen returns the repositories of a token: those asked for, or
// all of the installation; nil when one of them is not the installation's.
func (s *Server) chosen(app App, names []string) []string {
	if len(names) == 0 {
		return app.Repos
	}
	var found []string
	for _, full := range app.Repos {
		r := s.repo(full)
		if r != nil && slices.Contains(names, r.Name) {
			found = append(found, full)
		}
	}
	if len(found) < len(names) {
		return nil
	}
	return found
}

func (s *Server) issueToken(app App, repos []string, permissions map[string]string) answer {
	s.tokenSeq++
	value := fmt.Sprintf("ghs_standin%029d", s.tokenSeq)
	s.addToken(value, Token{Login: app.Slug + "[bot]", Kind: Installation, Repos: repos, Permissions: permissions})
	shown := []object{}
	for _, name := range repos {
		if r := s.repo(name); r != nil {
			shown = append(shown, s.repoJSON(r))
		}
	}
	return answer{status: http.StatusCreated, body: object{
		"token": value, "expires_at": stamp(s.now().Add(time.Hour)), "permissions": permissions,
		"repository_selection": "selected", "repositories": shown,
	}}
}
