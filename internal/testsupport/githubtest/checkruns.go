package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// CheckRun is what CI says of a commit.
type CheckRun struct {
	ID          int64
	SHA         string
	Name        string
	Conclusion  string // success, failure, …
	Title       string
	Summary     string
	App         string // empty means github-actions
	Annotations []Annotation
	Log         string // of the job, which only github-actions has
	Run         int64  // the workflow run whose job it is; 0: none
	Workflow    string // its name; CI, where it has none
	At          time.Time
}

// Annotation is what a check says of a line.
type Annotation struct {
	Path    string
	Line    int
	Message string
}

// AddCheckRun puts a check on a commit.
func (s *Server) AddCheckRun(name string, check CheckRun) CheckRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(name)
	check.ID, check.At = s.nextID(), s.now()
	if check.App == "" {
		check.App = "github-actions"
	}
	r.checks = append(r.checks, check)
	return check
}

// CheckRuns returns the checks that stand on a commit, the oldest first.
func (s *Server) CheckRuns(name, sha string) (found []CheckRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, check := range s.mustRepo(name).checks {
		if check.SHA == sha {
			found = append(found, check)
		}
	}
	return found
}

// mostAnnotations is how many GitHub takes in one request.
const mostAnnotations = 50

func createCheckRun(c *call) answer {
	var asked struct {
		Name       string
		HeadSHA    string `json:"head_sha"`
		Conclusion string
		Output     struct {
			Title, Summary string
			Annotations    []struct {
				Path    string
				Line    int `json:"start_line"`
				Message string
			}
		}
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if c.token.Kind == Personal {
		return fail(http.StatusForbidden, "You must authenticate via a GitHub App.")
	}
	sha := resolve(c.repo, asked.HeadSHA)
	if len(asked.Output.Annotations) > mostAnnotations || sha == "" {
		return fail(http.StatusUnprocessableEntity, "Invalid request.")
	}
	check := CheckRun{
		ID: c.server.nextID(), SHA: sha, Name: asked.Name, Conclusion: asked.Conclusion, Title: asked.Output.Title,
		Summary: asked.Output.Summary, App: "github-actions", At: c.server.now(),
	}
	for _, note := range asked.Output.Annotations {
		check.Annotations = append(check.Annotations, Annotation(note))
	}
	c.repo.checks = append(c.repo.checks, check)
	return created(c.server.checkJSON(c.repo, check))
}

func listCheckRuns(c *call) answer {
	sha := resolve(c.repo, c.params["ref"])
	if sha == "" {
		return fail(http.StatusUnprocessableEntity, "No commit found for SHA: "+c.params["ref"])
	}
	runs := []object{}
	for _, check := range c.repo.checks {
		if check.SHA == sha {
			runs = append(runs, c.server.checkJSON(c.repo, check))
		}
	}
	return ok(object{"total_count": len(runs), "check_runs": runs})
}

// checkOrNil returns the check that the path speaks of.
func (c *call) checkOrNil(name string) *CheckRun {
	at := slices.IndexFunc(c.repo.checks, func(check CheckRun) bool { return check.ID == c.number(name) })
	if at < 0 {
		return nil
	}
	return &c.repo.checks[at]
}

func listAnnotations(c *call) answer {
	check := c.checkOrNil("check_run_id")
	if check == nil {
		return notFound()
	}
	return page(c, check.Annotations, func(a Annotation) object {
		return object{
			"path": a.Path, "start_line": a.Line, "end_line": a.Line, "start_column": nil, "end_column": nil, "annotation_level": "failure",
			"title": nil, "message": a.Message, "raw_details": nil, "blob_href": c.server.URL + "/" + c.repo.name() + "/blob/" + check.SHA + "/" + a.Path,
		}
	})
}

// jobLog returns where the log lies: on GitHub at another host, without a token.
func jobLog(c *call) answer {
	check := c.checkOrNil("job_id")
	if check == nil || check.Log == "" {
		return notFound()
	}
	header := http.Header{}
	header.Set("Location", fmt.Sprintf("%s/logs/%d", c.server.URL, check.ID))
	return answer{status: http.StatusFound, header: header}
}

// serveLog returns a log by its address, and refuses callers that send a token:
// real ones would leak it to another host.
func (s *Server) serveLog(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	log := ""
	for _, repo := range s.repos {
		for _, check := range repo.checks {
			if r.URL.Path == fmt.Sprintf("/logs/%d", check.ID) {
				log = check.Log
			}
		}
	}
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "" || log == "" {
		http.Error(w, "InvalidAuthenticationInfo", http.StatusBadRequest)
		return
	}
	_, _ = strings.NewReader(log).WriteTo(w)
}

func (s *Server) checkJSON(r *repo, check CheckRun) object {
	base := s.api(fmt.Sprintf("/repos/%s/check-runs/%d", r.name(), check.ID))
	page := fmt.Sprintf("%s/%s/runs/%d", s.URL, r.name(), check.ID)
	return object{
		"id": check.ID, "node_id": nodeID("CR", check.ID), "head_sha": check.SHA, "external_id": "", "url": base, "html_url": page, "details_url": page,
		"status": "completed", "conclusion": check.Conclusion, "started_at": stamp(check.At), "completed_at": stamp(check.At), "name": check.Name,
		"check_suite": object{"id": 1}, "pull_requests": []object{},
		"output": object{
			"title": orNull(check.Title), "summary": orNull(check.Summary), "text": nil,
			"annotations_count": len(check.Annotations), "annotations_url": base + "/annotations",
		},
		"app": object{
			"id": 15368, "slug": check.App, "node_id": nodeID("A", 15368), "owner": s.userJSON("github"), "name": check.App, "description": nil,
			"external_url": s.URL, "html_url": s.URL + "/apps/" + check.App, "created_at": stamp(Epoch), "updated_at": stamp(Epoch),
			"permissions": object{"checks": "write"}, "events": []string{},
		},
	}
}
