package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// ending is a way in which CI of ralph's pull request ends, and the right move.
type ending struct {
	red    func(s *scene, sha string)
	event  string // and its conclusion; workflow_run failure, where it is empty
	on     func(s *scene) string
	reruns string // the workflow runs that are asked for again
	line   string // about CI in the progress comment; empty: it stays as it was
	pushes int
}

// job returns a job of GitHub Actions on a commit, and of a workflow run of its own.
func job(id int64, attempt int, conclusion, name, log string) func(*scene, string) {
	return func(s *scene, sha string) {
		s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: id, Status: "completed", Conclusion: conclusion, Attempt: attempt})
		s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: name, Conclusion: conclusion, Run: id, Log: log})
	}
}

// state returns a status that other CI writes.
func state(context, state string) func(*scene, string) {
	return func(s *scene, sha string) {
		s.SetStatus(shop, githubtest.Status{SHA: sha, Context: context, State: state, Description: "it says"})
	}
}

// all are several endings at once.
func all(of ...func(*scene, string)) func(*scene, string) {
	return func(s *scene, sha string) {
		for _, one := range of {
			one(s, sha)
		}
	}
}

// another returns an event of another pull request.
func another(pull githubtest.Pull) func(*scene) string {
	return func(s *scene) string {
		s.must("update-ref", "refs/heads/"+pull.Head, s.must("commit-tree", "-m", "theirs", "-p", "main", "main^{tree}"))
		s.issue = s.AddPull(shop, pull).Number
		now, _ := s.Pull(shop, s.issue)
		job(1, 2, "failure", "unit", "FAIL")(s, now.HeadSHA)
		return now.HeadSHA
	}
}

// endings returns those after which nothing is pushed, but for the last ones.
func endings() map[string]ending {
	const again = "ralph asked for one re-run"
	return map[string]ending{
		// No look, or nothing to see.
		"a workflow is green":          {event: "workflow_run success"},
		"a workflow is skipped":        {event: "workflow_run skipped"},
		"a suite is neutral":           {event: "check_suite neutral"},
		"a status waits":               {event: "status pending"},
		"a status is green":            {event: "status success"},
		"red on an older head":         {on: func(*scene) string { return strings.Repeat("0123456789", 4) }},
		"red, and green by now":        {event: "check_suite failure"},
		"red is ralph's own check":     {event: "check_suite failure", red: job(1, 2, "failure", "ralph/proof", "FAIL")},
		"red is ralph's own status":    {event: "status failure", red: state("ralph/proof", "failure")},
		"red is this workflow":         {red: func(s *scene, sha string) { s.mine(sha) }},
		"red is a fork's run":          {red: func(s *scene, sha string) { s.forks(sha) }},
		"red on a branch of people":    {on: another(githubtest.Pull{Title: "Mine", Head: "mia/cart", Author: maintainer})},
		"red on a stranger's":          {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/forged", Author: "mallory"})},
		"red on a draft":               {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/draft", Author: bot, Draft: true})},
		"red without a pull request":   {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/closed", Author: bot, State: "closed"})},
		"ready, and nothing is red":    {event: "pull_request ready_for_review"},
		"it waits for approval":        {red: job(1, 1, "action_required", "deploy", ""), line: "`deploy` waits for approval"},
		"a person cancelled it":        {red: job(2, 1, "cancelled", "unit", ""), reruns: "2", line: again},
		"cancelled again":              {red: job(3, 2, "cancelled", "unit", ""), line: "did not run to its end"},
		"it could not start":           {red: job(4, 1, "startup_failure", "unit", ""), reruns: "4", line: again},
		"other CI gave up":             {event: "check_suite stale", red: other("stale"), line: "did not run to its end"},
		"red on the base":              {red: job(10, 2, "failure", "lint", "FAIL"), line: "`lint` is red on the base branch, too"},
		"too slow on the base":         {red: job(11, 1, "timed_out", "lint", "FAIL"), line: "`lint` is red on the base branch, too"},
		"other CI is red on the base":  {event: "status failure", red: state("ci/base", "failure"), line: "`ci/base` is red on the base branch, too"},
		"it may be flaky":              {red: job(12, 1, "failure", "unit", "FAIL"), reruns: "12", line: "which shows whether it is flaky"},
		"it was too slow":              {red: job(13, 1, "timed_out", "unit", ""), reruns: "13", line: "which shows whether it is flaky"},
		"two jobs of one run":          {red: all(job(14, 1, "failure", "unit", "FAIL"), job(14, 1, "failure", "e2e", "FAIL")), reruns: "14", line: "`e2e`, `unit` failed"},
		"two runs":                     {red: all(job(15, 1, "failure", "unit", "FAIL"), job(16, 1, "cancelled", "e2e", "")), reruns: "15 16", line: "`e2e`, `unit` failed"},
		"one flaky, one of the base":   {red: all(job(17, 1, "failure", "unit", "FAIL"), job(18, 1, "failure", "lint", "FAIL")), reruns: "17", line: "`lint` is red on the base branch, too"},
		"ready, and a check is red":    {event: "pull_request ready_for_review", red: job(19, 1, "failure", "unit", "FAIL"), reruns: "19", line: again},
		"red after its re-run":         {red: job(20, 2, "failure", "unit", "FAIL"), pushes: 1},
		"other CI is red":              {event: "status failure", red: state("ci/outside", "failure"), pushes: 1},
		"other CI has an error":        {event: "status error", red: state("ci/outside", "error"), pushes: 1},
		"a check of other CI is red":   {event: "check_suite failure", red: other("failure"), pushes: 1},
		"flaky beside what is broken":  {red: all(job(22, 1, "failure", "e2e", "FAIL"), job(23, 2, "failure", "unit", "FAIL")), pushes: 1},
		"the base beside what is ours": {red: all(job(24, 2, "failure", "lint", "FAIL"), job(25, 2, "failure", "unit", "FAIL")), pushes: 1},
	}
}

// other returns a check of an App, which ralph cannot run again.
func other(conclusion string) func(*scene, string) {
	return func(s *scene, sha string) {
		s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: "scan", Conclusion: conclusion, App: "scanner", Title: "it says"})
	}
}

// mine is a red job of the workflow that ralph runs in.
func (s *scene) mine(sha string) {
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 30, Status: "completed", Conclusion: "failure", Attempt: 2})
	s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: "ralph", Conclusion: "failure", Run: 30, Workflow: "ralph after"})
}

// forks is a red job that ran for a fork.
func (s *scene) forks(sha string) {
	s.AddRepo(githubtest.Repo{Owner: "mia", Name: "greeter", Dir: s.bare()})
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 31, Status: "completed", Conclusion: "failure", Attempt: 2, Fork: "mia/greeter"})
	s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: "unit", Conclusion: "failure", Run: 31, Log: "FAIL"})
}

// newEndings returns a scene with a ready pull request of ralph's, on whose base two checks
// are red. Each run changes something.
func newEndings(t *testing.T) *scene {
	t.Helper()
	s := newRedScene(t)
	const agents = "-- 1/run --\necho . >>work\ngit add work\ngit commit -qm 'feat: work'\n-- 1/claim --\nUS-001: done\n"
	if err := write(s.path("script.txtar"), []byte(agents)); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "GITHUB_WORKFLOW=ralph after")
	base := s.must("rev-parse", "main")
	job(40, 2, "failure", "lint", "FAIL")(s, base)
	state("ci/base", "failure")(s, base)
	return s
}

// ends has CI end so on a new head, and holds what ralph does against the right move.
func (s *scene) ends(name string, e ending) {
	s.t.Helper()
	ours := s.issue
	s.moveOn()
	pull, _ := s.Pull(shop, s.issue)
	sha := pull.HeadSHA
	if e.red != nil {
		e.red(s, sha)
	}
	if e.on != nil {
		sha = e.on(s)
	}
	before, asked := s.comments(), len(s.Requests())
	event, conclusion, _ := strings.Cut(cmp.Or(e.event, "workflow_run failure"), " ")
	if event == "pull_request" {
		s.pulled(conclusion)
	} else {
		s.tells(event, sha, conclusion)
	}
	s.env = append(s.env, "GITHUB_WORKFLOW=ralph after")
	if code := s.end(s.begin()); code != 0 {
		s.t.Errorf("%s: exit %d, want 0", name, code)
	}
	if got := s.rerun(asked); got != e.reruns {
		s.t.Errorf("%s: asked for %q again, want %q", name, got, e.reruns)
	}
	if pushed := s.must("rev-list", "--count", pull.HeadSHA+".."+pull.Head); pushed != fmt.Sprint(e.pushes) {
		s.t.Errorf("%s: pushed %s commits, want %d", name, pushed, e.pushes)
	}
	after := s.comments()
	switch {
	case e.pushes > 0:
	case e.line == "" && !slices.Equal(after, before):
		s.t.Errorf("%s: people read %q, want nothing new", name, after)
	case len(after) > max(1, len(before)) || !strings.Contains(strings.Join(after, "\n"), e.line):
		s.t.Errorf("%s: people read %q, want a line %q", name, after, e.line)
	}
	s.issue = ours
	if now, _ := s.Pull(shop, ours); now.Draft || now.State != "open" {
		s.t.Errorf("%s: the pull request is %+v, want it ready", name, now)
	}
}

// comments returns the texts of all comments on the pull request.
func (s *scene) comments() (all []string) {
	for _, c := range s.Comments(shop, s.issue) {
		all = append(all, c.Body)
	}
	return all
}

// rerun returns the workflow runs that were asked for again since a request.
func (s *scene) rerun(since int) string {
	var runs []string
	for _, call := range s.Requests()[since:] {
		if rest, is := strings.CutPrefix(call.Path, "/repos/"+shop+"/actions/runs/"); is && call.Method == http.MethodPost {
			id, _, _ := strings.Cut(rest, "/")
			runs = append(runs, id)
		}
	}
	slices.Sort(runs)
	return strings.Join(runs, " ")
}

// Each way in which CI ends leads to the right move, and to no other: nothing is pushed
// for what is flaky, red on the base or the machine's fault.
func TestEndingsOfCI(t *testing.T) {
	t.Parallel()
	cases := endings()
	if len(cases) < 30 {
		t.Fatalf("%d endings, want 30", len(cases))
	}
	quiet := newEndings(t)
	var loud *scene // a pull request is worth so many attempts
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		e := cases[name]
		if !short.Has(name) {
			continue
		}
		if e.pushes == 0 {
			quiet.ends(name, e)
			continue
		}
		if loud == nil || loud.run().Task.Attempts.OfPull >= 4 {
			loud = newEndings(t)
		}
		loud.ends(name, e)
	}
}
