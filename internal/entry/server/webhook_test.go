package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

func TestADeliveryStartsAJob(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	label := s.label("ralph")
	v.deliver(guid(1), label, http.StatusAccepted)
	s.await(dispatches)
	v.stop()
	var sent struct {
		Ref    string
		Inputs map[string]string
	}
	for _, call := range s.Requests() {
		if call.Method+" "+call.Path == dispatches {
			if err := json.Unmarshal([]byte(call.Body), &sent); err != nil {
				t.Fatal(err)
			}
			if call.Actor != "ralph-loop[bot]" {
				t.Errorf("the job is started by %q", call.Actor)
			}
		}
	}
	if sent.Ref != "main" || sent.Inputs["issue"] != "1" || sent.Inputs["id"] != guid(1) {
		t.Errorf("sent %+v", sent)
	}
	event, err := json.Marshal(map[string]any{"inputs": sent.Inputs})
	if err != nil {
		t.Fatal(err)
	}
	got, is, err := github.ReadRelayed(event)
	if err != nil || !is {
		t.Fatalf("ReadRelayed = %t, %v", is, err)
	}
	want, err := github.ReadTrigger("issues", label)
	if err != nil {
		t.Fatal(err)
	}
	want.Issue.Body = "" // the job fetches it
	if diff := cmp.Diff(github.Relayed{ID: guid(1), Trigger: want}, got); diff != "" {
		t.Errorf("the job gets (-want +got):\n%s", diff)
	}
	if want.Sender.Login != "mia" || want.At.IsZero() {
		t.Errorf("the trigger is %+v", want)
	}
	for _, never := range []string{secret, "PRIVATE KEY", "ghs_"} {
		if strings.Contains(v.log.String(), never) {
			t.Errorf("the log holds %s:\n%s", never, v.log)
		}
	}
}

// Each failure of CI on ralph's branches starts one job. Other CI starts none.
func TestRedCIIsRelayed(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	n := 0
	suite := func(branch, conclusion, at string) {
		t.Helper()
		n++
		r := v.delivery(guid(n), fmt.Appendf(nil, `{"action": "completed", "check_suite": {"head_branch": %q, "head_sha": %q, "conclusion": %q, "updated_at": %q},
			"repository": {"name": "shop", "default_branch": "main", "owner": {"login": "acme"}}, "sender": {"login": "mia", "type": "User"}}`,
			branch, strings.Repeat("a", 40), conclusion, at))
		r.Header.Set("X-GitHub-Event", "check_suite")
		if status, said := v.send(r); status != http.StatusAccepted && status != http.StatusOK {
			t.Errorf("%s of %s is answered with %d %s", conclusion, branch, status, said)
		}
	}
	first, second := time.Now().Add(-2*time.Minute).Format(time.RFC3339), time.Now().Add(-time.Minute).Format(time.RFC3339)
	suite("ralph/issue-1-cart", "success", first)
	suite("mia/cart", "failure", first)
	v.counted("not_for_us", 2)
	suite("ralph/issue-1-cart", "failure", first)
	s.await(dispatches)
	suite("ralph/issue-1-cart", "failure", first)
	suite("ralph/issue-1-cart", "failure", second) // after a re-run
	s.await(dispatches)
	v.stop()
	if n := s.dispatched(); n != 2 {
		t.Errorf("%d jobs were started, want 2", n)
	}
	for _, call := range s.Requests() {
		if call.Method+" "+call.Path == dispatches && !strings.Contains(call.Body, `"issue":"ralph/issue-1-cart"`) {
			t.Errorf("the job is told %s", call.Body)
		}
	}
}

func TestWhatIsNotForUsStartsNothing(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	v.deliver(guid(1), s.label("bug"), http.StatusAccepted)
	n := 1
	for event, body := range map[string]string{
		"ping": `{"zen":"Keep it logically awesome."}`,
		"push": `{"ref": "refs/heads/ralph/issue-1-cart", "repository": {"name": "shop", "default_branch": "main", "owner": {"login": "acme"}}}`,
	} {
		n++
		r := v.delivery(guid(n), []byte(body))
		r.Header.Set("X-GitHub-Event", event)
		if status, said := v.send(r); status != http.StatusAccepted {
			t.Errorf("a %s is answered with %d %s", event, status, said)
		}
	}
	v.counted("not_for_us", 3)
	v.stop()
	if n := s.dispatched(); n != 0 {
		t.Errorf("%d jobs were started", n)
	}
	if !strings.Contains(v.log.String(), `the label is \"bug\", not \"ralph\"`) {
		t.Errorf("the reason is missing:\n%s", v.log)
	}
}

// A signed delivery that tells no time could be sent again at any time.
func TestADeliveryTellsItsTime(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	for n, updated := range []string{`null`, `"0001-01-01T00:00:00Z"`} {
		v.deliver(guid(n), fmt.Appendf(nil, `{"action": "labeled", "label": {"name": "ralph"}, "issue": {"number": 1, "state": "open", "updated_at": %s},
			"repository": {"name": "shop", "default_branch": "main", "owner": {"login": "acme"}}, "sender": {"login": "mia", "type": "User"}}`, updated), http.StatusOK)
	}
	v.counted("replayed", 2)
}

func TestDeliveriesThatAreRefused(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	body := s.label("ralph")
	for name, c := range map[string]struct {
		change  func(*http.Request)
		status  int
		outcome string
	}{
		"signed by another":     {func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign("a guess of sixteen", body)) }, 401, "forged"},
		"of another body":       {func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign(secret, body[1:])) }, 401, "forged"},
		"not signed":            {func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, 401, "forged"},
		"without a number":      {func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, 400, "malformed"},
		"with a strange number": {func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", "7") }, 400, "malformed"},
		"without an event":      {func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, 400, "malformed"},
		"as a form":             {func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, "malformed"},
		"without an issue": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"action":"labeled"}`)), -1
			r.Header.Set("X-GitHub-Delivery", guid(2))
			r.Header.Set("X-Hub-Signature-256", sign(secret, []byte(`{"action":"labeled"}`)))
		}, 400, "malformed"},
		"by another method": {func(r *http.Request) { r.Method = http.MethodPut }, 405, ""},
		"at another place":  {func(r *http.Request) { r.URL.Path = "/" }, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := v.delivery(guid(1), body)
			c.change(r)
			if status, said := v.send(r); status != c.status {
				t.Errorf("it is answered with %d %s, want %d", status, said, c.status)
			}
		})
	}
	v.counted("forged", 3)
	v.counted("malformed", 5)
	// Refused deliveries are not in the memory, so the genuine one is accepted.
	v.deliver(guid(1), body, http.StatusAccepted)
	v.stop()
	if n := s.dispatched(); n != 1 {
		t.Errorf("%d jobs were started, want 1", n)
	}
}

// GitHub signs neither a delivery's id nor the name of its event.
func TestASignedBodyActsOnce(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	body := s.label("ralph")
	v.deliver(guid(1), body, http.StatusAccepted)
	for _, n := range []int{1, 1, 2, 3, 4} {
		v.deliver(guid(n), body, http.StatusOK)
	}
	v.deliver(guid(7), s.label("ralph"), http.StatusAccepted) // somebody did it again
	v.counted("replayed", 5)
	v.stop()
	if got := s.started(); len(got) != 2 || strings.Trim(got, "17") != "" {
		t.Errorf("started %s, want 1 and 7", got)
	}
}

// A delivery does not act again when the memory no longer has it: after a restart, in
// GitHub's log, or a day later.
func TestASignedBodyActsOnceElsewhere(t *testing.T) {
	s := newScene(t)
	body := s.label("ralph")
	s.logged(1, http.StatusBadGateway, time.Hour, "issues", body)
	v := s.serve(s.server())
	s.await(dispatches)
	v.deliver(guid(2), body, http.StatusOK)
	v.stop()
	tomorrow := s.server()
	tomorrow.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	v = s.serve(tomorrow)
	v.deliver(guid(3), body, http.StatusOK)
	v.counted("replayed", 1)
	v.stop()
	if got := s.started(); got != "1" {
		t.Errorf("started %s, want 1", got)
	}
}

const tooMuch = 25<<20 + 1

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestWhatIsHugeIsRefused(t *testing.T) {
	s := newScene(t)
	v := s.serve(s.server())
	t.Run("in its body", func(t *testing.T) {
		r := v.delivery(guid(1), nil)
		r.Body, r.GetBody, r.ContentLength = io.NopCloser(io.LimitReader(zeros{}, tooMuch)), nil, -1
		if status, said := v.send(r); status != http.StatusRequestEntityTooLarge {
			t.Errorf("it is answered with %d %s", status, said)
		}
	})
	t.Run("in its headers", func(t *testing.T) {
		r := v.delivery(guid(1), nil)
		r.Header.Set("X-Much", strings.Repeat("x", 16<<10))
		if status, said := v.send(r); status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("it is answered with %d %s", status, said)
		}
	})
	v.counted("too_large", 1)
}

// The timeout is long enough for a busy machine.
func TestASlowBodyIsCutOff(t *testing.T) {
	s := newScene(t)
	patient := s.server()
	patient.Limits.Request = 3 * time.Second
	v := s.serve(patient)
	body, rest := io.Pipe()
	t.Cleanup(func() { _ = rest.Close() })
	r := v.delivery(guid(1), nil)
	r.Body, r.GetBody, r.ContentLength = body, nil, 100
	if status, said := v.send(r); status != http.StatusRequestTimeout {
		t.Errorf("it is answered with %d %s", status, said)
	}
}
