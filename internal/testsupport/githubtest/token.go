package githubtest

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Kind says what a token is, which decides by what rule it is refused.
type Kind string

const (
	// Job is the token of a workflow job: github-actions[bot], one repository.
	Job Kind = "job"
	// Installation is an App's token.
	Installation Kind = "installation"
	// Personal is a person's token; what it may do is what the person may do.
	Personal Kind = "personal"
)

// Token is a credential that the server knows.
type Token struct {
	Login string
	Kind  Kind
	// Repos, as owner/name, bounds a Job's or an Installation's token; nil is all.
	Repos []string
	// Permissions of a Job's or an Installation's token, such as issues: write.
	Permissions map[string]string

	value string
}

// WriteAll returns what a workflow gets that asks for all that ralph needs.
func WriteAll() map[string]string {
	return map[string]string{
		"actions": "write", "checks": "read", "contents": "write", "issues": "write", "metadata": "read",
		"pull_requests": "write", "statuses": "read",
	}
}

// AddToken makes a token known under its value. Its login is created with it.
func (s *Server) AddToken(value string, token Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addToken(value, token)
}

func (s *Server) addToken(value string, token Token) {
	if s.tokens == nil {
		s.tokens = map[string]*Token{}
		s.used = map[string]int{}
	}
	token.value = value
	token.Repos = slices.Clone(token.Repos)
	token.Permissions = maps.Clone(token.Permissions)
	s.user(token.Login)
	s.tokens[value] = &token
}

// DropToken makes a token unknown, as when it expires or is revoked.
func (s *Server) DropToken(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tokens, value)
}

// credential returns the secret of a request, however it was sent.
func credential(r *http.Request) string {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return value
	}
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return value
	}
	user, password, _ := strings.Cut(string(text), ":")
	// git and curl may carry the token as the user's name too.
	if password == "" || password == "x-oauth-basic" {
		return user
	}
	return password
}
