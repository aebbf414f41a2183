package main_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// hardship is a run that GitHub makes hard, and what must have come of it. That
// the work is safe, there is one pull request and one comment at most, and no
// process is left, holds for all of them.
type hardship struct {
	faults []githubtest.Fault
	before func(*scene)
	exit   int
	ready  bool     // in the end all is as if nothing had been
	packed bool     // the work is in a file, for GitHub did not get it
	says   []string // in the progress comment
	logs   []string // in the job's log
	no     string   // that nothing may say
	holds  string   // a file of somebody else on the branch
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
	clash   = githubtest.ServerError(http.StatusConflict)
	hiding  = githubtest.ServerError(http.StatusNotFound)
	expired = githubtest.Fault{Status: http.StatusUnauthorized, Body: `{"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}`}
)

// hardships are told together where they do not meet: a run takes seconds.
func hardships() map[string]hardship {
	post, patch, get, ready, push := http.MethodPost, http.MethodPatch, http.MethodGet, "/api/graphql", "/octo/greeter.git/git-receive-pack"
	opened, fetchless := after(post, pulls), on("", "", always, down)
	fetchless.Match = func(r *http.Request) bool { return opened(r) && strings.Contains(r.URL.String(), "upload-pack") }
	return map[string]hardship{
		// faults that pass, and change no result
		"500s": {ready: true, faults: []githubtest.Fault{
			on(get, mayAda, 2, down), on(post, comments, 1, down), on(patch, edits, 4, down), on(post, push, 1, down),
		}},
		"502s with a page":      {ready: true, faults: []githubtest.Fault{on(get, mayAda, 1, unicorn), on(post, pulls, 2, unicorn), on(post, ready, 2, unicorn)}},
		"secondary limits":      {ready: true, faults: []githubtest.Fault{on(post, comments, 1, soon), on(post, pulls, 1, soon)}},
		"answers that are cut":  {ready: true, faults: []githubtest.Fault{on(get, mayAda, 1, cut), on(post, comments, 1, cut), on(post, pulls, 1, cut), on(patch, edits, 3, cut)}},
		"answers that are lost": {ready: true, faults: []githubtest.Fault{on(post, comments, 1, lost), on(post, pulls, 1, lost), on(post, ready, 1, lost)}},
		"stalls":                {ready: true, faults: []githubtest.Fault{on(get, mayAda, 1, slow), on(patch, edits, 1, slow, 2), on(post, pulls, 1, slow)}},
		"a comment deleted, calls clash, a push refused once": {
			ready: true, before: func(s *scene) { s.erased(); s.refusePush(1, "try again later") },
			faults: []githubtest.Fault{on(patch, edits, 2, clash, 1), on(post, pulls, 1, clash)},
		},
		"somebody opens the pull request first": {ready: true, before: (*scene).forestalled},
		"somebody makes the draft ready":        {before: (*scene).hastened, ready: true},
		"somebody pushes first": {
			before: (*scene).overtaken, holds: "by-hand.txt",
		},
		"somebody pushes first, and nothing can be fetched any more": {
			before: (*scene).overtaken, faults: []githubtest.Fault{fetchless}, exit: 2, packed: true, says: []string{"the work could not be pushed", "**Next:**"},
		},
		// trouble that stays: the work is safe, and what is wrong is said
		"no comment ever":             {faults: []githubtest.Fault{on(post, comments, always, down)}, logs: []string{"comment on #1: github answers 500"}},
		"no edit ever":                {faults: []githubtest.Fault{on(patch, edits, always, down)}, logs: []string{"edit the comment on #1: github answers 500"}},
		"no comment is found to edit": {faults: []githubtest.Fault{on(patch, edits, always, hiding)}, logs: []string{"edit the comment on #1: github answers 404"}},
		"no pull request ever": {
			faults: []githubtest.Fault{on(post, pulls, always, unicorn)}, exit: 2,
			says: []string{"the pull request could not be opened", "github answers 502", "**Next:**"}, no: "<!DOCTYPE",
		},
		"a limit of an hour": {
			faults: []githubtest.Fault{on(post, pulls, always, late)}, exit: 2,
			logs: []string{"could not open the pull request", "secondary rate limit"}, no: "not making remote request",
		},
		"no ready ever": {
			faults: []githubtest.Fault{on(post, ready, always, down)},
			says:   []string{"could not mark the pull request as ready", "**Next:**"},
		},
		"the token expires in mid-run": {
			faults: []githubtest.Fault{{Match: after(post, pulls), Times: always, Status: expired.Status, Body: expired.Body}},
			exit:   2, packed: true, logs: []string{"github answers 401: Bad credentials", "the work is in the file .ralph-out/"},
		},
	}
}

// refusals are pushes that GitHub refuses for good, in its own words. Each is told
// with what to do about it, and the work is in a file.
func refusals() map[string]hardship {
	refused := func(words func(ref string) string, says ...string) hardship {
		return hardship{
			before: func(s *scene) { s.refuseBranches(words) },
			exit:   2, packed: true, says: append(says, "the work could not be pushed", "**Next:**", "in the job's workspace: `git fetch` reads it like a remote"),
		}
	}
	rules := map[string]string{
		"Changes must be made through a pull request.":        "bypass the ruleset",
		"Commits must have verified signatures.":              "`github.commitSigning` to `github`",
		"GITHUB PUSH PROTECTION: Push cannot contain secrets": "remove the secret from the commits",
	}
	all := map[string]hardship{
		"a protected branch": refused(githubtest.ProtectedBranch, "GH006: Protected branch update failed", "set `github.branchPrefix`"),
		"a file too large":   refused(func(string) string { return githubtest.LargeFile("big.bin") }, "File big.bin is 120.00 MB", "Git LFS"),
		"a workflow": refused(func(string) string { return githubtest.WorkflowRule(".github/workflows/ci.yml") },
			"without `workflows` permission)** ·", "`workflows: write`"),
	}
	for rule, fix := range rules {
		all["a ruleset: "+rule] = refused(func(ref string) string { return githubtest.RuleViolation(ref, rule) }, "GH013: Repository rule violations", rule, fix)
	}
	return all
}

// refuseBranches has GitHub refuse every push to a branch.
func (s *scene) refuseBranches(words func(ref string) string) {
	s.keepGate(func(push githubtest.Push) string {
		if !strings.HasPrefix(push.Ref, "refs/heads/") {
			return ""
		}
		return words(push.Ref)
	})
}

// work is the branch of the scene's issue.
const work = "ralph/issue-1-greet-people-by-name-in-their-language"

// forestalled has a person open the pull request while ralph is about to.
func (s *scene) forestalled() {
	var once sync.Once
	s.visit(func(r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, pulls) {
			once.Do(func() {
				s.AddPull(shop, githubtest.Pull{Title: "By hand", Head: work, Author: maintainer, Draft: true})
			})
		}
	})
}

// hastened has a person make the pull request ready while ralph works on, and GitHub refuse a push to a ready one.
func (s *scene) hastened() {
	var opened, pushed atomic.Bool
	s.visit(func(r *http.Request) {
		if opened.Load() && r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/pulls/") && !pushed.Load() {
			s.SetDraft(shop, s.Pulls(shop)[0].Number, false)
		}
		opened.CompareAndSwap(false, r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, pulls))
	})
	s.keepGate(func(push githubtest.Push) string {
		if !strings.HasPrefix(push.Ref, "refs/heads/") || !opened.Load() {
			return ""
		}
		pushed.Store(true)
		if !s.Pulls(shop)[0].Draft {
			return "the pull request is ready"
		}
		return ""
	})
}

// overtaken has a person push to the branch while ralph is about to.
func (s *scene) overtaken() {
	v := &visitOf{town: s.town, issue: s.issue}
	_, err := v.byHand([]string{"by-hand", work, "later"})
	if err = errors.Join(err, write(s.path("by-hand", "by-hand.txt"), []byte("by hand\n"))); err != nil {
		s.t.Fatal(err)
	}
}

// erased has somebody delete the progress comment while the pull request is made.
func (s *scene) erased() {
	v := &visitOf{town: s.town, issue: s.issue}
	if _, err := v.forget(nil); err != nil {
		s.t.Fatal(err)
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
	all := hardships()
	maps.Copy(all, refusals())
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all[name].test(t)
		})
	}
}

func (h hardship) test(t *testing.T) {
	t.Helper()
	s := newScene(t)
	if h.before != nil {
		h.before(s)
	}
	for _, fault := range h.faults {
		s.Inject(fault)
	}
	l := s.begin(hasteKey + "=20ms")
	if code := s.end(l); code != h.exit {
		t.Errorf("exit %d, want %d", code, h.exit)
	}
	said, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	if h.ready {
		s.settled()
	}
	s.safe(h.packed)
	if h.holds != "" && !slices.Contains(s.files(s.run().Branch), h.holds) {
		t.Errorf("the branch does not hold %s, which somebody else pushed", h.holds)
	}
	h.told(s, string(said))
}

// safe is what no fault may take away: the work can be had, and nothing is there
// twice.
func (s *scene) safe(packed bool) {
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

func (h hardship) told(s *scene, log string) {
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
