package server_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// GitHub's API fails for an hour. One delivery was accepted in it, one was not, and one
// was accepted before. None is lost.
func TestAnHourWithoutGitHubLosesNothing(t *testing.T) {
	s := newScene(t)
	tries := make(chan struct{}, 100_000)
	away := githubtest.ServerError(http.StatusServiceUnavailable)
	away.Times, away.Match = -1, func(*http.Request) bool { tries <- struct{}{}; return true }
	tried := func() {
		t.Helper()
		for range 5 { // some may have been under way
			select {
			case <-tries:
			case <-time.After(time.Minute):
				t.Fatal("it is not tried again")
			}
		}
	}
	var later atomic.Int64
	often := s.server()
	often.Limits.LogInterval = 20 * time.Millisecond
	often.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	s.logged(1, http.StatusBadGateway, time.Minute, "issues", s.label("ralph"))
	s.Inject(away)
	v := s.serve(often)
	body := s.label("ralph")
	s.logged(2, http.StatusAccepted, 0, "issues", body)
	s.logged(3, http.StatusServiceUnavailable, 0, "issues", s.label("ralph"))
	v.deliver(guid(2), body, http.StatusAccepted)
	tried()
	later.Store(int64(time.Hour))
	tried()
	s.Heal()
	for range 3 {
		s.await(dispatches)
	}
	v.stop()
	if got := sorted(s.started()); got != "123" {
		t.Errorf("started %s, want 1, 2 and 3 once", got)
	}
}

func sorted(text string) string {
	return string(slices.Sorted(slices.Values([]byte(text))))
}

// Many more deliveries than the queue can hold are not lost.
func TestAFloodLosesNothing(t *testing.T) {
	s := newScene(t)
	small := s.server()
	small.Limits.Queue, small.Limits.Workers, small.Limits.LogInterval = 2, 1, 20*time.Millisecond
	v := s.serve(small)
	const many = 20 // a second of GitHub's clock each, and tokens know the time
	var sent sync.WaitGroup
	var refused atomic.Int32
	for n := range many {
		body := s.label("ralph")
		sent.Go(func() {
			status, _ := v.send(v.delivery(guid(n), body))
			s.logged(n, status, 0, "issues", body)
			if status == http.StatusServiceUnavailable {
				refused.Add(1)
			}
		})
	}
	sent.Wait()
	for range many {
		s.await(dispatches)
	}
	v.stop()
	if refused.Load() == 0 {
		t.Error("none was refused: it was no flood")
	}
	for n := range many {
		if jobs := s.jobsOf(guid(n)); jobs != 1 {
			t.Errorf("delivery %d started %d jobs, want 1", n, jobs)
		}
	}
}

// jobsOf returns how many jobs a delivery started.
func (s *scene) jobsOf(id string) (n int) {
	for _, call := range s.Requests() {
		if call.Method+" "+call.Path == dispatches && strings.Contains(call.Body, id) {
			n++
		}
	}
	return n
}

// The first read of GitHub's log goes to its end. Each later one begins where the last one ended.
func TestTheLogIsReadOnce(t *testing.T) {
	s := newScene(t)
	s.logged(4, http.StatusBadGateway, 3*time.Hour, "issues", s.label("ralph"))
	for range 250 {
		s.logged(1, http.StatusAccepted, 2*time.Hour, "push", []byte(`{"ref":"x"}`))
	}
	s.logged(2, http.StatusAccepted, time.Hour, "push", []byte(`{"ref":"x"}`))
	often := s.server()
	often.Limits.LogInterval = 20 * time.Millisecond
	v := s.serve(often)
	s.await(dispatches)
	for range 6 {
		s.await(hookLog)
	}
	s.logged(3, http.StatusBadGateway, 0, "issues", s.label("ralph"))
	s.await(dispatches)
	v.stop()
	older := 0
	for _, call := range s.Requests() {
		if call.Method+" "+call.Path == hookLog && strings.Contains(call.Query, "cursor") {
			older++
		}
	}
	if older != 2 {
		t.Errorf("%d older pages were read, want 2 of the first look", older)
	}
}
