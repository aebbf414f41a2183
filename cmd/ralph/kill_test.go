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
func (s *scene) killed(d death) {
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
func (s *scene) well() {
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

func (s *scene) outcome() undisturbed {
	s.t.Helper()
	return undisturbed{s.entries(), s.must("rev-parse", s.run().Branch+"^{tree}"), s.messages()}
}

// sameAs is what must be so besides: kills leave no trace in what was made.
func (s *scene) sameAs(want undisturbed) {
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
	first := newScene(t)
	first.well()
	plain := first.outcome()
	hit := map[string]bool{}
	t.Run("at", func(t *testing.T) {
		for _, d := range deaths(plain.entries) {
			hit[d.Event] = true
			t.Run(d.String(), func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
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
		hit[journal.Type(elsewhere)] = true // of no run of these scenes
	}
	for _, name := range journal.Types() {
		if !hit[name] {
			t.Errorf("no process was killed at %s", name)
		}
	}
}

// deaths returns those of each type of event of a run: at the first event of the type, as soon as it is written, and at
// the last, when the next has happened already. With KILL there are all of them, else the types take turns, one way
// each.
func deaths(entries []journal.Entry) []death {
	var all []death
	last := count(entries)
	for i, name := range slices.Sorted(maps.Keys(last)) {
		if name == journal.Type(journal.RunStopped{}) {
			continue // after it the clock is not looked at: it is among the rare
		}
		if name == journal.Type(journal.Shelved{}) { // nor after the last of these
			last[name]--
		}
		ways := waysAt(name, last[name])
		if os.Getenv("KILL") == "" {
			ways = ways[i%len(ways):][:1]
		}
		all = append(all, ways...)
	}
	return all
}

// waysAt returns the deaths at a type that comes n times. One that comes but once
// has only the late one, which is the harder to mend.
func waysAt(event string, n int) []death {
	late := death{Event: event, Nth: n, Late: true}
	if n < 2 {
		return []death{late}
	}
	return []death{{Event: event, Nth: 1}, late}
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
		s := newScene(t)
		rocket := func(r *http.Request, body string) bool { return strings.Contains(body, "rocket") }
		s.killedAtCall(call{match: rocket})
		s.well()
		s.sameAs(plain)
	},
	"plan_drafted": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newScene(t, vague)
		s.killed(death{Event: "plan_drafted", Nth: 1, Late: true})
		s.well()
		s.sameAs(plain)
		if n := count(s.entries())["plan_drafted"]; n != 1 {
			t.Errorf("the plan was made %d times, want once", n)
		}
	},
	"signed": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newScene(t)
		s.env = append(s.env, "SET_github.commitSigning=github")
		s.killed(death{Event: "signed", Nth: 2})
		s.well()
		s.sameAs(plain)
	},
	"publish_failed": func(t *testing.T, plain undisturbed) {
		t.Helper()
		s := newScene(t, func(s *scene) { s.refusePush(1, "not on a Friday") })
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
		s := newScene(t)
		s.killed(death{Event: "iteration_began", Nth: 2, Late: true})
		s.killed(death{Event: "resumed", Nth: 1})
		s.well()
		s.sameAs(plain)
	},
	"cancel_asked": func(t *testing.T, _ undisturbed) {
		t.Helper()
		s := newScene(t, patient)
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
func (s *scene) last() string {
	entries := s.entries()
	if len(entries) == 0 {
		return ""
	}
	return journal.Type(entries[len(entries)-1].Event)
}

// patient makes the first agent one that works until it is told to stop.
func patient(s *scene) { s.play(func(string) bool { return true }) }

// vague makes the issue one that does not say what has to hold; the agent does.
func vague(s *scene) {
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Title, i.Body = "Greet people", "As they like it." })
	const answer = `
-- 0/say --
{"userStories": [
  {"id": "US-001", "title": "Greet by name", "acceptanceCriteria": ["a name is greeted"]},
  {"id": "US-002", "title": "Greet in German", "acceptanceCriteria": ["--de greets in German"]},
  {"id": "US-003", "title": "Refuse a name that is empty", "acceptanceCriteria": ["an empty name is refused"]}]}
`
	script, err := os.ReadFile(s.path("script.txtar"))
	if err == nil {
		err = write(s.path("script.txtar"), []byte(strings.TrimSuffix(string(script), "\n")+answer))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// steady are the agents that come after it.
func steady(s *scene) { s.play(func(name string) bool { return !strings.HasPrefix(name, "1/") }) }

// play gives the agents a part of the script for the patient.
func (s *scene) play(part func(name string) bool) {
	s.t.Helper()
	script, err := txtar.ParseFile("testdata/patient.txtar")
	if err != nil {
		s.t.Fatal(err)
	}
	script.Files = slices.DeleteFunc(script.Files, func(file txtar.File) bool { return !part(file.Name) })
	if err := write(s.path("script.txtar"), txtar.Format(script)); err != nil {
		s.t.Fatal(err)
	}
}

// hung reports whether that agent is at work.
func (s *scene) hung() bool {
	_, err := os.Stat(s.path("runner", "hung"))
	return err == nil
}

// call is a request in the middle of which somebody is killed.
type call struct {
	match func(r *http.Request, body string) bool
	done  bool // the request is carried out, and only its answer is lost
}

// killedAtCall lives a life to its end in a request.
func (s *scene) killedAtCall(at call) {
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
			s := newScene(t)
			s.killedAtCall(calls[name])
			s.well()
		})
	}
}

// TestKillAgainAndAgain lets no life write more than a few events.
func TestKillAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
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

// TestKillTearsALine has a kill leave half an event.
func TestKillTearsALine(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.killed(death{Event: "pushed", Nth: 1})
	path := s.journals()[0]
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, data[:len(data)-7], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.well()
}
