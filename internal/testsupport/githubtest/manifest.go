package githubtest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// manifest is what a form may say of an App that is to be made.
type manifest struct {
	Name     string
	URL      string
	Redirect string `json:"redirect_url"`
	Hook     struct {
		URL    string
		Active bool
	} `json:"hook_attributes"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`
}

// drawn is an App that waits for its maker to come back with the code.
type drawn struct {
	app    App
	key    string // PEM
	secret string
}

// MakeApp returns the click on "Create GitHub App": it takes the form's manifest and
// gives the address to which the maker is sent back. The App is owner's, and is
// installed in repos.
func (s *Server) MakeApp(owner, state, text string, repos ...string) (back string, err error) {
	var m manifest
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return "", fmt.Errorf("read the manifest: %w", err)
	}
	if m.Name == "" || m.URL == "" || m.Redirect == "" || m.Hook.URL == "" || len(m.Events) == 0 {
		return "", errors.New("the manifest lacks something: " + text)
	}
	code, secret := rand.Text(), rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn == nil {
		s.drawn = map[string]drawn{}
	}
	s.drawn[code] = drawn{
		app:    App{ID: s.nextID(), Slug: m.Name, Owner: owner, Key: &Key().PublicKey, Installation: s.nextID(), Repos: repos, Permissions: m.Permissions},
		secret: secret,
		key:    PEM(Key()),
	}
	to, err := url.Parse(m.Redirect)
	if err != nil {
		return "", fmt.Errorf("read the manifest: %w", err)
	}
	to.RawQuery = url.Values{"code": {code}, "state": {state}}.Encode()
	return to.String(), nil
}

// convertManifest hands an App over, once.
func convertManifest(c *call) answer {
	made, known := c.server.drawn[c.params["code"]]
	if !known {
		return notFound()
	}
	delete(c.server.drawn, c.params["code"])
	c.server.register(made.app)
	c.app = made.app
	reply := getApp(c)
	shown, _ := reply.body.(object)
	shown["client_id"], shown["client_secret"] = "Iv1.standin", "standin-client-secret"
	shown["webhook_secret"], shown["pem"] = made.secret, made.key
	reply.status = http.StatusCreated
	return reply
}
