package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// logged adds a delivery with an answer to GitHub's log.
func (s *scene) logged(n, status int, ago time.Duration, event string, body []byte) {
	s.Deliver(githubtest.Delivery{GUID: guid(n), Event: event, Payload: body, At: time.Now().Add(-ago), Status: status})
}

// started returns the ids of the jobs that were started.
func (s *scene) started() string {
	var found []string
	for _, call := range s.Requests() {
		if call.Method+" "+call.Path != dispatches {
			continue
		}
		for n := range 10 {
			if strings.Contains(call.Body, `"id":"`+guid(n)+`"`) {
				found = append(found, string(rune('0'+n)))
			}
		}
	}
	return strings.Join(found, "")
}

func TestWhatWasMissedIsSeenTo(t *testing.T) {
	s := newScene(t)
	ours := s.label("ralph")
	s.logged(1, 502, 30*time.Hour, "issues", ours) // too long ago
	s.logged(2, 502, 20*time.Hour, "issues", ours)
	s.logged(3, 0, 2*time.Hour, "issues", ours)
	s.logged(3, 202, 2*time.Hour, "issues", ours) // the second try was heard
	s.logged(4, 502, time.Hour, "push", []byte(`{"ref":"x"}`))
	s.logged(5, 202, time.Hour, "issues", ours) // long done
	again := s.label("ralph")
	s.logged(6, 503, time.Minute, "issues", again)
	s.logged(6, 503, time.Minute, "issues", again)
	s.logged(7, 502, time.Minute, "issues", s.label("bug"))
	one := s.server()
	one.Limits.Workers = 1
	v := s.serve(one)
	s.await(dispatches)
	s.await(dispatches)
	v.stop()
	if got := s.started(); got != "26" {
		t.Errorf("started %s, want 2 and 6", got)
	}
}

func TestNothingIsLostOverARestart(t *testing.T) {
	s := newScene(t)
	killed := s.server()
	killed.Limits.Workers, killed.Limits.Queue = 0, 1 // no worker handles what it accepts
	v := s.serve(killed)
	s.await(hookLog)
	v.deliver(guid(1), s.label("ralph"), http.StatusAccepted)
	for range 2 { // the memory has no refused delivery
		v.deliver(guid(2), s.label("ralph"), http.StatusServiceUnavailable)
	}
	v.counted("busy", 2)
	v.stop()
	s.logged(1, http.StatusAccepted, 0, "issues", s.label("ralph"))
	s.logged(2, http.StatusServiceUnavailable, 0, "issues", s.label("ralph"))
	one := s.server()
	one.Limits.Workers = 1
	v = s.serve(one)
	s.await(dispatches)
	s.await(dispatches)
	v.stop()
	if got := s.started(); got != "12" {
		t.Errorf("started %s, want 1 and 2", got)
	}
}

func TestAJobWhoseStartIsInDoubtIsStartedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fault githubtest.Fault
		asks  int
	}{
		"GitHub was down":     {githubtest.Fault{Method: "POST", Path: "/repos/acme/shop/actions/workflows/ralph.yml/dispatches", Status: 502}, 2},
		"its answer was lost": {githubtest.Fault{Method: "POST", Path: "/repos/acme/shop/actions/workflows/ralph.yml/dispatches", Status: 502, Done: true}, 1},
		"the App was refused": {githubtest.Fault{Method: "POST", Path: "/app/installations/345/access_tokens", Status: 401}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.Inject(c.fault)
			often := s.server()
			often.Limits.LogInterval = time.Millisecond
			v := s.serve(often)
			s.await(hookLog)
			s.logged(1, http.StatusAccepted, 0, "issues", s.label("ralph"))
			s.await(runs)
			if c.asks == 2 {
				s.await(dispatches)
			}
			v.stop()
			if n := s.dispatched(); n != c.asks {
				t.Errorf("GitHub was asked for %d jobs, want %d", n, c.asks)
			}
		})
	}
}

func TestItStopsThoughGitHubDoesNotAnswer(t *testing.T) {
	s := newScene(t)
	hanging := make(chan struct{}, 1)
	s.Inject(githubtest.Fault{Method: "POST", Path: "/app/installations/345/access_tokens", Hang: true, Match: func(*http.Request) bool {
		hanging <- struct{}{}
		return true
	}})
	hasty := s.server()
	hasty.Limits.Grace = 50 * time.Millisecond
	v := s.serve(hasty)
	v.deliver(guid(1), s.label("ralph"), http.StatusAccepted)
	<-hanging
	v.stop()
	if !strings.Contains(v.log.String(), "cannot start a job yet") {
		t.Errorf("the log does not tell:\n%s", v.log)
	}
}

func TestOneThatCannotBeReadIsNoReasonToLeaveOutTheNext(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusBadGateway} {
		s := newScene(t)
		s.logged(1, 502, 2*time.Hour, "issues", s.label("ralph"))
		s.logged(2, 502, time.Hour, "issues", s.label("ralph"))
		s.Inject(githubtest.Fault{Method: "GET", Path: "/app/hook/deliveries/*", Status: status})
		v := s.serve(s.server())
		s.await(dispatches)
		v.stop()
		if got := s.started(); got != "2" {
			t.Errorf("after %d: started %s, want 2", status, got)
		}
		if !strings.Contains(v.log.String(), "delivery "+guid(1)+": ") {
			t.Errorf("after %d the log does not tell:\n%s", status, v.log)
		}
	}
}
