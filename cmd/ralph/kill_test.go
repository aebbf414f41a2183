package main_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// killed lives a life to the violent end it was told.
func (s *issueJob) killed(d death) {
	s.t.Helper()
	if code := s.end(s.begin(d.env())); code != -1 { // no process was left to make an exit code
		s.t.Fatalf("exit %d: no process was killed at %s", code, d)
	}
	entries := s.entries()
	if last := journal.Type(entries[len(entries)-1].Event); d.Event != "" && last != d.Event {
		s.t.Fatalf("killed at %s, want %s", last, d.Event)
	}
}

// well is the result of an undisturbed life.
func (s *issueJob) well() {
	s.t.Helper()
	if code := s.end(s.begin()); code != 0 {
		s.t.Errorf("exit %d, want 0", code)
	}
	s.settled()
}

// undisturbed is a run without a kill.
type undisturbed struct {
	entries  []journal.Entry
	tree     string
	messages []string
}

func (s *issueJob) outcome() undisturbed {
	s.t.Helper()
	return undisturbed{s.entries(), s.must("rev-parse", s.run().Branch+"^{tree}"), s.messages()}
}

// sameAs is what must be so besides: kills leave no trace in what was made.
func (s *issueJob) sameAs(want undisturbed) {
	t := s.t
	t.Helper()
	got := s.outcome()
	if got.tree != want.tree {
		t.Errorf("tree %s, want %s as without a kill", got.tree, want.tree)
	}
	if diff := cmp.Diff(want.messages, got.messages); diff != "" {
		t.Errorf("commits (-without a kill +with):\n%s", diff)
	}
	if n := len(s.journals()); n != 1 {
		t.Errorf("%d runs, want one that was gone on with", n)
	}
	pulls, comments := s.made("/repos/"+shop+"/pulls"), s.made(fmt.Sprintf("/repos/%s/issues/%d/comments", shop, s.issue))
	if pulls != 1 || comments != 1 {
		t.Errorf("made %d pull requests and %d comments, want one each", pulls, comments)
	}
}

// TestKill kills the program at events of each type, and has it go on.
func TestKill(t *testing.T) {
	t.Parallel()
	first := newIssueJob(t)
	first.well()
	plain := first.outcome()
	hit := map[string]bool{}
	t.Run("at", func(t *testing.T) {
		for _, d := range deaths(plain.entries) {
			hit[d.Event] = true
			t.Run(d.String(), func(t *testing.T) {
				t.Parallel()
				s := newIssueJob(t)
				s.killed(d)
				s.well()
				s.sameAs(plain)
			})
		}
		for _, name := range slices.Sorted(maps.Keys(rare)) {
			hit[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rare[name](t, plain)
			})
		}
	})
	for _, elsewhere := range []journal.Event{journal.SCMEnded{}, journal.Noted{}, journal.EgressRefused{}, journal.EgressPassed{}, journal.TaskLooked{}, journal.Paused{}, journal.TaskSettled{}, journal.Packed{}, journal.Branched{}, journal.Delivered{}} {
		hit[journal.Type(elsewhere)] = true // of no run of these jobs
	}
	for _, name := range journal.Types() {
		if !hit[name] {
			t.Errorf("no process was killed at %s", name)
		}
	}
}

// deaths returns those of each type of event of a run: at the first event of the type, as soon as it is written, and at
// the last, when the next has happened already. A type that comes but once has only the late one, which is the harder to
// mend.
func deaths(entries []journal.Entry) []death {
	var all []death
	last := count(entries)
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if name == journal.Type(journal.RunStopped{}) {
			continue // after it the clock is not looked at: it is among the rare
		}
		if name == journal.Type(journal.Shelved{}) { // nor after the last of these
			last[name]--
		}
		if last[name] > 1 {
			all = append(all, death{Event: name, Nth: 1})
		}
		all = append(all, death{Event: name, Nth: last[name], Late: true})
	}
	return all
}

// count returns how many events there are of each type.
func count(entries []journal.Entry) map[string]int {
	n := map[string]int{}
	for _, entry := range entries {
		n[journal.Type(entry.Event)]++
	}
	return n
}

// rare are the events that take more to come about, or to be killed at.
var rare = map[string]func(*testing.T, undisturbed){
	"run_stopped": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newIssueJob(t)
		rocket := func(r *http.Request, body string) bool { return strings.Contains(body, "rocket") }
		s.killedAtCall(call{match: rocket})
		s.well()
		s.sameAs(plain)
	},
	"plan_drafted": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newIssueJob(t, vague)
		s.killed(death{Event: "plan_drafted", Nth: 1, Late: true})
		s.well()
		s.sameAs(plain)
		if n := count(s.entries())["plan_drafted"]; n != 1 {
			t.Errorf("the plan was made %d times, want once", n)
		}
	},
	"signed": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newIssueJob(t)
		s.env = append(s.env, "SET_github.commitSigning=github")
		s.killed(death{Event: "signed", Nth: 2})
		s.well()
		s.sameAs(plain)
	},
	"publish_failed": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newIssueJob(t, func(s *issueJob) { s.refusePush(1, "not on a Friday") })
		l := s.begin()
		// The program waits before it tries again, and that is when it ends.
		s.until("a push failed", func() bool { return s.last() == "publish_failed" })
		_ = l.Process.Kill()
		s.end(l)
		s.well()
		s.sameAs(plain)
	},
	"resumed": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newIssueJob(t)
		s.killed(death{Event: "iteration_began", Nth: 2, Late: true})
		s.killed(death{Event: "resumed", Nth: 1})
		s.well()
		s.sameAs(plain)
	},
	"cancel_asked": func(t *testing.T, _ undisturbed) {
		t.Helper()
		s := newIssueJob(t, patient)
		l := s.begin(death{Event: "cancel_asked", Nth: 1}.env())
		s.until("the agent is at work", s.hung)
		_ = l.Process.Signal(syscall.SIGTERM)
		if code := s.end(l); code != -1 || s.last() != "cancel_asked" {
			t.Fatalf("exit %d at %s, want a kill at cancel_asked", code, s.last())
		}
		s.well()
	},
}

// last returns the type of the newest event.
func (s *issueJob) last() string {
	entries := s.entries()
	if len(entries) == 0 {
		return ""
	}
	return journal.Type(entries[len(entries)-1].Event)
}

// patient makes the first agent one that works until it is told to stop.
func patient(s *issueJob) { s.play(func(string) bool { return true }) }

// vague makes the issue one that does not say what has to hold; the agent does.
func vague(s *issueJob) {
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Title, i.Body = "Greet people", "As they like it." })
	const answer = `
-- 0/say --
{"userStories": [
  {"id": "US-001", "title": "Greet by name", "acceptanceCriteria": ["a name is greeted"]},
  {"id": "US-002", "title": "Greet in German", "acceptanceCriteria": ["--de greets in German"]},
  {"id": "US-003", "title": "Refuse a name that is empty", "acceptanceCriteria": ["an empty name is refused"]}]}
`
	script := readFile(s.t, s.path("script.txtar"))
	s.write(s.path("script.txtar"), strings.TrimSuffix(script, "\n")+answer)
}

// steady are the agents that come after it.
func steady(s *issueJob) { s.play(func(name string) bool { return !strings.HasPrefix(name, "1/") }) }

// play gives the agents a part of the script for the patient.
func (s *issueJob) play(part func(name string) bool) {
	s.t.Helper()
	script, err := txtar.ParseFile("testdata/patient.txtar")
	if err != nil {
		s.t.Fatal(err)
	}
	script.Files = slices.DeleteFunc(script.Files, func(file txtar.File) bool { return !part(file.Name) })
	s.write(s.path("script.txtar"), string(txtar.Format(script)))
}

// hung reports whether that agent is at work.
func (s *issueJob) hung() bool {
	_, err := os.Stat(s.path("runner", "hung"))
	return err == nil
}

// call is a request in the middle of which somebody is killed.
type call struct {
	match func(r *http.Request, body string) bool
	done  bool // the request is carried out, and only its answer is lost
}

// killedAtCall lives a life to its end in a request.
func (s *issueJob) killedAtCall(at call) {
	s.t.Helper()
	pid := make(chan int, 1)
	var struck sync.Once
	s.visit(func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !at.match(r, string(body)) {
			return
		}
		struck.Do(func() {
			_ = syscall.Kill(<-pid, syscall.SIGKILL)
			if !at.done {
				panic(http.ErrAbortHandler)
			}
		})
	})
	l := s.begin()
	pid <- l.Process.Pid
	if code := s.end(l); code != -1 {
		s.t.Fatalf("exit %d: no process was killed", code)
	}
}

// TestKillAtACall kills the program while GitHub is about to do what it asked.
func TestKillAtACall(t *testing.T) {
	t.Parallel()
	to := func(method, path string) func(*http.Request, string) bool {
		return func(r *http.Request, _ string) bool {
			return r.Method == method && strings.Contains(r.URL.Path, path)
		}
	}
	edit := to(http.MethodPatch, "/comments/")
	last := func(r *http.Request, body string) bool {
		return edit(r, body) && strings.Contains(body, "Ready for review")
	}
	calls := map[string]call{
		"the label":                  {match: to(http.MethodDelete, "/labels/ralph")},
		"the label, done":            {match: to(http.MethodDelete, "/labels/ralph"), done: true},
		"the comment":                {match: to(http.MethodPost, "/issues/1/comments")},
		"the pull request":           {match: to(http.MethodPost, "/pulls")},
		"the pull request's text":    {match: to(http.MethodPatch, "/pulls/2")},
		"the comment's last edit":    {match: last},
		"the pull request, answered": {match: to(http.MethodPost, "/pulls"), done: true},
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIssueJob(t)
			s.killedAtCall(calls[name])
			s.well()
		})
	}
}

// A kill around the record of a hand-over that put a protected file back changes nothing: people
// read that the agent changed the file, and the pull request stays a draft without it.
func TestKillWhileAProtectedFileIsPutBack(t *testing.T) {
	t.Parallel()
	for _, d := range []death{{Event: "plan_read", Nth: 1, Late: true}, {Event: "commits_taken", Nth: 1}} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			s := newIssueJob(t, func(s *issueJob) {
				s.write(s.path("script.txtar"), "-- 1/write/.github/workflows/ci.yml --\non: push\n-- 1/write/one --\n1\n"+
					"-- 1/claim --\nUS-001: done\n-- 1/commit --\nfeat: one\n"+
					"-- 2/write/two --\n2\n-- 2/claim --\nUS-002: done\n-- 2/commit --\nfeat: two\n")
				s.EditIssue(shop, s.issue, func(i *githubtest.Issue) {
					i.Title, i.Body = "Count", "- [ ] One\n- [ ] Two\n"
				})
			})
			s.env = append(s.env, "SET_proof=unbroken")
			s.killed(d)
			if code := s.end(s.begin()); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			pulls := s.Pulls(shop)
			if len(pulls) != 1 || !pulls[0].Draft || !strings.Contains(pulls[0].Body, "restored: `.github/workflows/ci.yml`") {
				t.Errorf("pull requests %+v, want a draft that names the file", pulls)
			}
			got := s.files(s.run().Branch)
			if !slices.Contains(got, "two") || slices.Contains(got, ".github/workflows/ci.yml") {
				t.Errorf("files %v, want the work without the protected file", got)
			}
			if got := s.messages(); !slices.Equal(got, []string{"feat: one", "feat: two"}) {
				t.Errorf("commits %q, want those of the agent", got)
			}
		})
	}
}

// TestKillAgainAndAgain lets no life write more than a few events.
func TestKillAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t)
	lives := 0
	for ; lives < 40; lives++ {
		if code := s.end(s.begin(death{Nth: 7, Late: lives%3 == 0}.env())); code == 0 {
			break
		}
	}
	if lives < 5 {
		t.Errorf("it ended in life %d, want more of them", lives)
	}
	s.settled()
}
