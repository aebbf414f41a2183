package main_test

import (
	"cmp"
	"fmt"
	"maps"
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
	pushes int
}

// job returns a job of GitHub Actions on a commit, and of a workflow run of its own.
func job(id int64, conclusion, name, log string) func(*scene, string) {
	return func(s *scene, sha string) {
		s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: id, Status: "completed", Conclusion: conclusion})
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
		job(1, "failure", "unit", "FAIL")(s, now.HeadSHA)
		return now.HeadSHA
	}
}

// endings returns those after which nothing is pushed, but for the last ones.
func endings() map[string]ending {
	return map[string]ending{
		// No look, or nothing to see.
		"a workflow is green":          {event: "workflow_run success"},
		"a workflow is skipped":        {event: "workflow_run skipped"},
		"a suite is neutral":           {event: "check_suite neutral"},
		"a status waits":               {event: "status pending"},
		"a status is green":            {event: "status success"},
		"red on an older head":         {on: func(*scene) string { return strings.Repeat("0123456789", 4) }},
		"red, and green by now":        {event: "check_suite failure"},
		"red is ralph's own check":     {event: "check_suite failure", red: job(1, "failure", "ralph/proof", "FAIL")},
		"red is ralph's own status":    {event: "status failure", red: state("ralph/proof", "failure")},
		"red is this workflow":         {red: func(s *scene, sha string) { s.mine(sha) }},
		"red is a fork's run":          {red: func(s *scene, sha string) { s.forks(sha) }},
		"red on a branch of people":    {on: another(githubtest.Pull{Title: "Mine", Head: "mia/cart", Author: maintainer})},
		"red on a stranger's":          {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/forged", Author: "mallory"})},
		"red on a draft":               {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/draft", Author: bot, Draft: true})},
		"red without a pull request":   {on: another(githubtest.Pull{Title: "Mine", Body: trigger.PullMarker + "\n", Head: "ralph/closed", Author: bot, State: "closed"})},
		"ready, and nothing is red":    {event: "pull_request ready_for_review"},
		"it waits for approval":        {red: job(1, "action_required", "deploy", "")},
		"a person cancelled it":        {red: job(2, "cancelled", "unit", "")},
		"it could not start":           {red: job(4, "startup_failure", "unit", "")},
		"other CI gave up":             {event: "check_suite stale", red: other("stale")},
		"red on the base":              {red: job(10, "failure", "lint", "FAIL")},
		"too slow on the base":         {red: job(11, "timed_out", "lint", "FAIL")},
		"other CI is red on the base":  {event: "status failure", red: state("ci/base", "failure")},
		"a job is red":                 {red: job(12, "failure", "unit", "FAIL"), pushes: 1},
		"two jobs of one run":          {red: all(job(14, "failure", "unit", "FAIL"), job(14, "failure", "e2e", "FAIL")), pushes: 1},
		"ready, and a check is red":    {event: "pull_request ready_for_review", red: job(19, "failure", "unit", "FAIL"), pushes: 1},
		"other CI is red":              {event: "status failure", red: state("ci/outside", "failure"), pushes: 1},
		"other CI has an error":        {event: "status error", red: state("ci/outside", "error"), pushes: 1},
		"a check of other CI is red":   {event: "check_suite failure", red: other("failure"), pushes: 1},
		"the base beside what is ours": {red: all(job(24, "failure", "lint", "FAIL"), job(25, "failure", "unit", "FAIL")), pushes: 1},
	}
}

// other returns a check of an App.
func other(conclusion string) func(*scene, string) {
	return func(s *scene, sha string) {
		s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: "scan", Conclusion: conclusion, App: "scanner", Title: "it says"})
	}
}

// mine is a red job of the workflow that ralph runs in.
func (s *scene) mine(sha string) {
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 30, Status: "completed", Conclusion: "failure"})
	s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: "ralph", Conclusion: "failure", Run: 30, Workflow: "ralph after"})
}

// forks is a red job that ran for a fork.
func (s *scene) forks(sha string) {
	s.AddRepo(githubtest.Repo{Owner: "mia", Name: "greeter", Dir: s.bare()})
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 31, Status: "completed", Conclusion: "failure", Fork: "mia/greeter"})
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
	job(40, "failure", "lint", "FAIL")(s, base)
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
	before := s.comments()
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
	if pushed := s.must("rev-list", "--count", pull.HeadSHA+".."+pull.Head); pushed != fmt.Sprint(e.pushes) {
		s.t.Errorf("%s: pushed %s commits, want %d", name, pushed, e.pushes)
	}
	if after := s.comments(); e.pushes == 0 && !slices.Equal(after, before) {
		s.t.Errorf("%s: people read %q, want nothing new", name, after)
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

// Each way in which CI ends leads to the right move, and to no other: nothing is pushed
// for what is red on the base or the machine's fault.
func TestEndingsOfCI(t *testing.T) {
	t.Parallel()
	cases := endings()
	if len(cases) < 25 {
		t.Fatalf("%d endings, want 25", len(cases))
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
