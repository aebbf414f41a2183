package githubtest

import (
	"context"
	"net/http"
	"strings"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/githttp"
)

// Push is one ref of a push.
type Push struct {
	Repo  string
	Actor string
	Ref   string
	Old   string // all zeros: the ref is new
	New   string // all zeros: the ref is deleted
}

// backend finds git-http-backend when it is first needed.
func (s *Server) backend() string {
	s.lookUp.Do(func() {
		place := ""
		if s.Git != nil {
			place = s.besideGit()
		}
		s.program = githttp.Find(place)
	})
	return s.program
}

// besideGit returns where git says that it keeps its own programs.
func (s *Server) besideGit() string {
	dir, err := s.Git(context.Background(), "", "--exec-path")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(dir) + "/git-http-backend"
}

// open returns which directory a git request is for, or why it is refused.
func (s *Server) open(r *http.Request, name string, write bool) (githttp.Access, *githttp.Denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret := credential(r)
	token, known := s.tokens[secret]
	repo := s.repo(name)
	switch {
	case secret != "" && !known:
		return githttp.Access{}, &githttp.Denial{Status: http.StatusUnauthorized, Text: "Invalid username or token. Password authentication is not supported for Git operations."}
	case token == nil && (write || repo == nil || repo.Private):
		return githttp.Access{}, &githttp.Denial{Status: http.StatusUnauthorized, Text: "No anonymous write access."}
	case repo == nil || !token.sees(repo):
		return githttp.Access{}, &githttp.Denial{Status: http.StatusNotFound, Text: "Repository not found."}
	case write && token.below("write", repo):
		return githttp.Access{}, &githttp.Denial{Status: http.StatusForbidden, Text: "Permission to " + repo.name() + ".git denied to " + token.Login + "."}
	case write && token.Kind != Personal && !token.grants("contents", "write", repo):
		return githttp.Access{}, &githttp.Denial{Status: http.StatusForbidden, Text: "Write access to repository not granted."}
	}
	access := githttp.Access{Name: repo.name(), Dir: repo.Dir, Secret: secret}
	if token != nil {
		access.Actor = token.Login
	}
	return access, nil
}

// refuse judges a push before git sees it.
func (s *Server) refuse(access githttp.Access, u githttp.Update) string {
	s.mu.Lock()
	r := s.repo(access.Name)
	s.mu.Unlock()
	if s.RefusePush == nil {
		return ""
	}
	return s.RefusePush(Push{Repo: r.name(), Actor: access.Actor, Ref: u.Ref, Old: u.Old, New: u.New})
}

// revoke judges a push after git took it, when its files can be seen: an App's
// token may change workflow files only with the permission for it. The refs
// are put back then.
func (s *Server) revoke(access githttp.Access, updates []githttp.Update) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, token := s.repo(access.Name), s.tokens[access.Secret]
	if token == nil || token.Kind == Personal || token.Permissions["workflows"] == "write" {
		return ""
	}
	for _, u := range updates {
		file := s.workflow(r, u)
		if file == "" {
			continue
		}
		for _, taken := range updates {
			s.restore(r, taken)
		}
		return "refusing to allow a GitHub App to create or update workflow `" + file + "` without `workflows` permission"
	}
	return ""
}

// workflow returns the first workflow file that an update of a branch touches and that
// no other branch has as it is: what stands on one may be pushed.
func (s *Server) workflow(r *repo, u githttp.Update) string {
	if !strings.HasPrefix(u.Ref, "refs/heads/") || isZero(u.New) {
		return ""
	}
	span := u.Old + ".." + u.New
	if isZero(u.Old) {
		span = r.DefaultBranch + "..." + u.New
	}
	for file := range strings.FieldsSeq(s.ask(r, "diff", "--name-only", span, "--", ".github/workflows")) {
		if !s.elsewhere(r, u, file) {
			return file
		}
	}
	return ""
}

// elsewhere reports whether a branch that is not pushed to has a file as u brings it.
func (s *Server) elsewhere(r *repo, u githttp.Update, file string) bool {
	pushed := s.ask(r, "rev-parse", u.New+":"+file)
	for branch := range strings.FieldsSeq(s.ask(r, "for-each-ref", "--format=%(refname)", "refs/heads/")) {
		if branch != u.Ref && pushed != "" && pushed == s.ask(r, "rev-parse", branch+":"+file) {
			return true
		}
	}
	return false
}

func (s *Server) restore(r *repo, u githttp.Update) {
	if isZero(u.Old) {
		s.ask(r, "update-ref", "-d", u.Ref, u.New)
		return
	}
	s.ask(r, "update-ref", u.Ref, u.Old)
}

func isZero(sha string) bool { return strings.Trim(sha, "0") == "" }
