package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Repo is a repository: a bare git directory and what GitHub knows about it.
type Repo struct {
	Owner         string
	Name          string
	DefaultBranch string // empty means main
	Dir           string // the bare repository
	Private       bool
	Roles         map[string]string // login: admin, maintain, write, triage, read
	Rulesets      []Ruleset
	// NoDrafts is a plan without draft pull requests.
	NoDrafts bool
	// NoActionsPulls is the setting that forbids Actions to open pull requests.
	NoActionsPulls bool
}

type repo struct {
	Repo
	id        int64
	createdAt time.Time
	last      int // the number of the newest issue or pull request
	issues    map[int]*issue
	comments  map[int64]*Comment
	labels    []*Label
	jobs      map[int64]*WorkflowRun
	checks    []CheckRun
	states    []Status
}

func (r *repo) name() string { return r.Owner + "/" + r.Name }

// AddRepo makes a repository. The owner has the role admin.
func (s *Server) AddRepo(settings Repo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if settings.DefaultBranch == "" {
		settings.DefaultBranch = "main"
	}
	settings.Roles = maps.Clone(settings.Roles)
	made := &repo{Repo: settings, id: s.nextID(), createdAt: s.now(), issues: map[int]*issue{}, comments: map[int64]*Comment{}}
	if s.repos == nil {
		s.repos = map[string]*repo{}
	}
	s.user(settings.Owner)
	for _, login := range slices.Sorted(maps.Keys(settings.Roles)) {
		s.user(login)
	}
	s.repos[strings.ToLower(made.name())] = made
}

// Permit gives a login a role in a repository; "none" takes it away.
func (s *Server) Permit(name, login, role string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user(login)
	if r := s.repo(name); r != nil {
		if r.Roles == nil {
			r.Roles = map[string]string{}
		}
		maps.DeleteFunc(r.Roles, func(name, _ string) bool { return strings.EqualFold(name, login) })
		r.Roles[login] = role
	}
}

func (s *Server) repo(name string) *repo { return s.repos[strings.ToLower(name)] }

// roleOf returns a person's role; everybody may read what is public.
func (r *repo) roleOf(login string) string {
	given := r.given(login)
	switch {
	case strings.EqualFold(login, r.Owner):
		return "admin"
	case given != "none":
		return given
	case r.Private:
		return "none"
	}
	return "read"
}

// given returns the role that a person was given by name, in any case.
func (r *repo) given(login string) string {
	for name, role := range r.Roles {
		if strings.EqualFold(name, login) {
			return role
		}
	}
	return "none"
}

// association returns how GitHub describes an author beside their words.
func (r *repo) association(login string) string {
	switch {
	case strings.EqualFold(login, r.Owner):
		return "OWNER"
	case r.given(login) != "none":
		return "COLLABORATOR"
	}
	return "NONE"
}

func permissions(name string) object {
	has := role[name]
	return object{
		"admin": has >= role["admin"], "maintain": has >= role["maintain"], "push": has >= role["write"],
		"triage": has >= role["triage"], "pull": has >= role["read"],
	}
}

func getPermission(c *call) answer {
	user := c.server.findUser(c.params["username"])
	if user == nil || user.Kind == "Bot" {
		return fail(http.StatusNotFound, c.params["username"]+" is not a user")
	}
	roleName := c.repo.roleOf(user.Login)
	// The permission is the old word and has no maintain and no triage.
	permission, renamed := map[string]string{"maintain": "write", "triage": "read"}[roleName]
	if !renamed {
		permission = roleName
	}
	person := c.server.userJSON(user.Login)
	person["permissions"] = permissions(roleName)
	person["role_name"] = roleName
	return ok(object{"permission": permission, "role_name": roleName, "user": person})
}

func getRepo(c *call) answer {
	body := c.server.repoJSON(c.repo)
	maps.Copy(body, (object{
		"network_count": 0, "subscribers_count": 0, "allow_squash_merge": true, "allow_merge_commit": true,
		"allow_rebase_merge": true, "delete_branch_on_merge": false, "allow_auto_merge": false,
	}))
	if c.token != nil && c.token.Kind == Personal {
		body["permissions"] = permissions(c.repo.roleOf(c.token.Login))
	}
	return ok(body)
}

// repoPaths are the addresses that a repository's answer lists, by field.
var repoPaths = map[string]string{
	"forks_url": "/forks", "keys_url": "/keys{/key_id}", "collaborators_url": "/collaborators{/collaborator}",
	"teams_url": "/teams", "hooks_url": "/hooks", "issue_events_url": "/issues/events{/number}", "events_url": "/events",
	"assignees_url": "/assignees{/user}", "branches_url": "/branches{/branch}", "tags_url": "/tags",
	"blobs_url": "/git/blobs{/sha}", "git_tags_url": "/git/tags{/sha}", "git_refs_url": "/git/refs{/sha}",
	"trees_url": "/git/trees{/sha}", "statuses_url": "/statuses/{sha}", "languages_url": "/languages",
	"stargazers_url": "/stargazers", "contributors_url": "/contributors", "subscribers_url": "/subscribers",
	"subscription_url": "/subscription", "commits_url": "/commits{/sha}", "git_commits_url": "/git/commits{/sha}",
	"comments_url": "/comments{/number}", "issue_comment_url": "/issues/comments{/number}",
	"contents_url": "/contents/{+path}", "compare_url": "/compare/{base}...{head}", "merges_url": "/merges",
	"archive_url": "/{archive_format}{/ref}", "downloads_url": "/downloads", "issues_url": "/issues{/number}",
	"pulls_url": "/pulls{/number}", "milestones_url": "/milestones{/number}",
	"notifications_url": "/notifications{?since,all,participating}", "labels_url": "/labels{/name}",
	"releases_url": "/releases{/id}", "deployments_url": "/deployments", "url": "",
}

func (s *Server) repoJSON(r *repo) object {
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	page, open := s.URL+"/"+r.name(), r.openCount()
	body := object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.Name, "full_name": r.name(), "private": r.Private,
		"owner": s.userJSON(r.Owner), "html_url": page, "description": nil, "fork": false,
		"created_at": stamp(r.createdAt), "updated_at": stamp(r.createdAt), "pushed_at": stamp(r.createdAt),
		"git_url": fmt.Sprintf("git:%s.git", strings.TrimPrefix(page, "http:")), "ssh_url": "git@127.0.0.1:" + r.name() + ".git",
		"clone_url": page + ".git", "svn_url": page, "homepage": nil, "size": 0, "stargazers_count": 0,
		"watchers_count": 0, "language": nil, "has_issues": true, "has_projects": true, "has_downloads": true,
		"has_wiki": true, "has_pages": false, "has_discussions": false, "forks_count": 0, "mirror_url": nil,
		"archived": false, "disabled": false, "open_issues_count": open, "license": nil, "allow_forking": true,
		"is_template": false, "web_commit_signoff_required": false, "topics": []string{}, "visibility": visibility,
		"forks": 0, "open_issues": open, "watchers": 0, "default_branch": r.DefaultBranch,
	}
	for field, path := range repoPaths {
		body[field] = s.api("/repos/" + r.name() + path)
	}
	return body
}
