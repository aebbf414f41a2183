package githubtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// call is one API request being answered.
type call struct {
	server  *Server
	request *http.Request
	params  map[string]string
	body    []byte
	token   *Token // nil: anonymous
	repo    *repo  // nil: the path names none
	app     App    // of a JWT
}

// route is one operation. Patterns are GitHub's own, but for {name...}, which
// takes slashes as well. The first that matches wins, since http.ServeMux
// refuses issues/comments/{id} beside issues/{number}/comments.
type route struct {
	operation string // as it was given
	method    string
	pattern   func() *regexp.Regexp // read when it is first needed: every command holds the stand-in, few use it
	need      need
	handle    func(*call) answer
}

// on makes a route. The need reads "scope:level role": what an App's token must
// hold, and which role a person; see parseNeed.
func on(operation, need string, handle func(*call) answer) route {
	method, path, _ := strings.Cut(operation, " ")
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		name, isParam := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		rest, isRest := strings.CutSuffix(name, "...")
		switch {
		case isRest:
			segments[i] = `(?P<` + rest + `>.+)`
		case isParam:
			segments[i] = `(?P<` + name + `>[^/]+)`
		default:
			segments[i] = regexp.QuoteMeta(segment)
		}
	}
	pattern := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + strings.Join(segments, "/") + `$`) })
	return route{operation: operation, method: method, pattern: pattern, need: parseNeed(need), handle: handle}
}

func (r route) match(c *call) bool {
	if r.method != c.request.Method {
		return false
	}
	found := r.pattern().FindStringSubmatch(apiPath(c.request))
	if found == nil {
		return false
	}
	c.params = map[string]string{}
	for i, name := range r.pattern().SubexpNames()[1:] {
		value, err := url.PathUnescape(found[i+1])
		if err != nil {
			return false
		}
		c.params[name] = value
	}
	return true
}

// number returns a numeric part of the path; GitHub has nothing under other words.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// decode reads the body into a value; a body of the wrong shape is a 422.
func (c *call) decode(into any) *answer {
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		reply := fail(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error())
		return &reply
	}
	return nil
}

// Operations lists what the stand-in can do, as GitHub's documents name it.
func Operations() []string {
	var names []string
	for _, r := range routes {
		names = append(names, strings.ReplaceAll(r.operation, "...}", "}"))
	}
	return names
}

// routes is all that the stand-in can do.
var routes = []route{
	on("GET /repos/{owner}/{repo}", "metadata:read read", getRepo),
	on("GET /repos/{owner}/{repo}/collaborators/{username}/permission", "metadata:read write", getPermission),
	on("POST /repos/{owner}/{repo}/git/commits", "contents:write write", createCommit),
	on("GET /repos/{owner}/{repo}/contents/{path...}", "contents:read read", getContents),
	on("GET /repos/{owner}/{repo}/rules/branches/{branch...}", "metadata:read read", listRules),
	on("GET /repos/{owner}/{repo}/actions/permissions/workflow", "administration:read admin", getWorkflowPermissions),
	on("GET /repos/{owner}/{repo}/commits/{ref...}/status", "statuses:read read", getStatus),
	on("GET /repos/{owner}/{repo}/commits/{ref...}/check-runs", "checks:read read", listCheckRuns),
	on("POST /repos/{owner}/{repo}/check-runs", "checks:write write", createCheckRun),
	on("GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", "checks:read read", listAnnotations),
	on("GET /repos/{owner}/{repo}/actions/jobs/{job_id}", "actions:read read", getWorkflowJob),
	on("GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs", "actions:read read", jobLog),
	on("POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches", "actions:write write", dispatchWorkflow),
	on("GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs", "actions:read read", listJobs),
	on("GET /repos/{owner}/{repo}/actions/runs", "actions:read read", listJobs),
	on("GET /repos/{owner}/{repo}/actions/runs/{run_id}", "actions:read read", getJob),
	on("POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel", "actions:write write", cancelJob),

	on("POST /repos/{owner}/{repo}/issues", "issues:write read", createIssue),
	on("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", "issues:write read", editComment),
	on("DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}", "issues:write read", deleteComment),
	on("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", "issues:write read", react),
	on("GET /repos/{owner}/{repo}/issues/{issue_number}", "issues:read read", getIssue),
	on("GET /repos/{owner}/{repo}/issues/{issue_number}/comments", "issues:read read", listComments),
	on("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", "issues:write read", createComment),
	on("POST /repos/{owner}/{repo}/issues/{issue_number}/reactions", "issues:write read", react),
	on("POST /repos/{owner}/{repo}/issues/{issue_number}/labels", "issues:write triage", addLabels),
	on("DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", "issues:write triage", removeLabel),

	on("GET /repos/{owner}/{repo}/pulls", "pull_requests:read read", listPulls),
	on("POST /repos/{owner}/{repo}/pulls", "pull_requests:write read", createPull),
	on("POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", "pull_requests:write read", react),
	on("GET /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests:read read", getPull),
	on("PATCH /repos/{owner}/{repo}/pulls/{pull_number}", "pull_requests:write read", editPull),
	on("POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", "pull_requests:write triage", requestReviewers),
	on("GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews", "pull_requests:read read", listReviews),
	on("GET /repos/{owner}/{repo}/pulls/{pull_number}/comments", "pull_requests:read read", listReviewComments),
	on("POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies", "pull_requests:write read", replyToRemark),

	on("POST /markdown", "", markdown),
	on("GET /app/hook/deliveries", "app", listDeliveries),
	on("GET /app/hook/deliveries/{delivery_id}", "app", getDelivery),
	on("GET /repos/{owner}/{repo}/installation", "app", getInstallation),
	on("POST /app/installations/{installation_id}/access_tokens", "app", createToken),
}
