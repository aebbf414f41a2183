package main_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// hardship is a run that GitHub makes hard, and what must have come of it. That
// the work is safe, there is one pull request and one comment at most, and no
// process is left, holds for all of them.
type hardship struct {
	faults []githubtest.Fault
	exit   int
	ready  bool     // in the end all is as if nothing had been
	packed bool     // the work is in a file, for GitHub did not get it
	says   []string // in the progress comment
	logs   []string // in the job's log
	no     string   // that nothing may say
}

const (
	always   = -1
	comments = "/repos/octo/greeter/issues/1/comments"
	edits    = "/repos/octo/greeter/issues/comments/*"
	pulls    = "/repos/octo/greeter/pulls"
	mayAda   = "/repos/octo/greeter/collaborators/ada/permission"
)

// on has a fault befall so many calls, after some that pass.
func on(method, path string, times int, fault githubtest.Fault, skip ...int) githubtest.Fault {
	fault.Method, fault.Path, fault.Times = method, path, times
	for _, n := range skip {
		fault.Skip = n
	}
	return fault
}

var (
	unicorn = githubtest.BadGateway()
	down    = githubtest.ServerError(http.StatusInternalServerError)
	slow    = githubtest.Fault{Hang: true}
	lost    = githubtest.Fault{Hang: true, Done: true}
	cut     = githubtest.Fault{CutAfter: 40}
	soon    = githubtest.SecondaryLimit(time.Second)
	late    = githubtest.SecondaryLimit(time.Hour)
	expired = githubtest.Fault{Status: http.StatusUnauthorized, Body: `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`}
)

// hardships are told together where they do not meet: a run takes seconds.
func hardships() map[string]hardship {
	post, patch, get := http.MethodPost, http.MethodPatch, http.MethodGet
	ready, push := "/api/graphql", "/octo/greeter.git/git-receive-pack"
	return map[string]hardship{
		// faults that pass, and change no result
		"500s and 502s with a page": {ready: true, faults: []githubtest.Fault{
			on(get, mayAda, 2, down), on(post, comments, 1, down), on(patch, edits, 4, down),
			on(post, push, 1, down), on(post, pulls, 2, unicorn), on(post, ready, 2, unicorn),
		}},
		"secondary limits": {ready: true, faults: []githubtest.Fault{on(post, comments, 1, soon), on(post, pulls, 1, soon)}},
		"answers that are cut": {ready: true, faults: []githubtest.Fault{
			on(get, mayAda, 1, cut), on(post, comments, 1, cut), on(post, pulls, 1, cut), on(patch, edits, 3, cut),
		}},
		"answers that are lost": {ready: true, faults: []githubtest.Fault{
			on(post, comments, 1, lost), on(post, pulls, 1, lost), on(post, ready, 1, lost),
		}},
		"stalls": {ready: true, faults: []githubtest.Fault{on(get, mayAda, 1, slow), on(patch, edits, 1, slow, 2), on(post, pulls, 1, slow)}},
		// trouble that stays: the work is safe, and what is wrong is said
		"no comment ever": {
			faults: []githubtest.Fault{on(post, comments, always, down)},
			logs:   []string{"comment on #1: github answers 500"},
		},
		"no edit ever": {
			faults: []githubtest.Fault{on(patch, edits, always, down)},
			logs:   []string{"edit the comment on #1: github answers 500"},
		},
		"no pull request ever": {
			faults: []githubtest.Fault{on(post, pulls, always, unicorn)}, exit: 2,
			says: []string{"the pull request could not be opened", "github answers 502", "**Next:**"}, no: "<!DOCTYPE",
		},
		"a limit of an hour": {
			faults: []githubtest.Fault{on(post, pulls, always, late)}, exit: 2,
			logs: []string{"could not open the pull request", "secondary rate limit"}, no: "not making remote request",
		},
		"the token expires in mid-run": {
			faults: []githubtest.Fault{{Match: after(post, pulls), Times: always, Status: expired.Status, Body: expired.Body}},
			exit:   2, packed: true, logs: []string{"github answers 401: Bad credentials", "the work is in the file .ralph-out/"},
		},
	}
}

// after fits all that comes once a call was made, no matter what it is.
func after(method, path string) func(*http.Request) bool {
	var seen bool
	return func(r *http.Request) bool { // under the stand-in's own lock
		now := seen
		seen = seen || r.Method == method && strings.HasSuffix(r.URL.Path, path)
		return now
	}
}

// TestFaults has GitHub fail in all the ways it does, in whole runs.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, hardship := range hardships() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hardship.test(t)
		})
	}
}

func (h hardship) test(t *testing.T) {
	t.Helper()
	s := newIssueJob(t)
	for _, fault := range h.faults {
		s.Inject(fault)
	}
	l := s.begin(hasteKey + "=20ms")
	if code := s.end(l); code != h.exit {
		t.Errorf("exit %d, want %d", code, h.exit)
	}
	if h.ready {
		s.settled()
	}
	s.safe(h.packed)
	h.told(s, readFile(t, l.log))
}

// safe is what no fault may take away: the work can be had, and nothing is there
// twice.
func (s *issueJob) safe(packed bool) {
	t := s.t
	t.Helper()
	run := s.run()
	if run.Stop == nil || run.PassedStories() != 3 {
		t.Fatalf("the run ended as %+v with %d stories passed, want all 3", run.Stop, run.PassedStories())
	}
	if packed {
		bundle := s.path("workspace", filepath.FromSlash(run.Published.Packed.Path))
		heads, err := tryGit(t.Context(), s.bare(), "bundle", "list-heads", bundle)
		if err != nil || !strings.HasPrefix(heads, run.Head) {
			t.Errorf("the bundle holds %q, want %s: %v", heads, run.Head, err)
		}
	} else if head := s.must("rev-parse", run.Branch); head != run.Head {
		t.Errorf("the branch stands at %s, the work at %s", head, run.Head)
	}
	if n := len(s.Pulls(shop)); n > 1 {
		t.Errorf("%d pull requests, want one at most", n)
	}
	if all := s.Comments(shop, s.issue); len(all) > 1 {
		t.Errorf("%d comments, want one at most: %+v", len(all), all)
	}
}

func (h hardship) told(s *issueJob, log string) {
	t := s.t
	t.Helper()
	comment := ""
	for _, one := range s.progress(s.issue) {
		comment += one.Body
	}
	for _, want := range h.says {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment does not say %q:\n%s", want, comment)
		}
	}
	for _, want := range h.logs {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	if h.no != "" && strings.Contains(comment+log, h.no) {
		t.Errorf("somebody said %q", h.no)
	}
}
