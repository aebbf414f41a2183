package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/entry/server"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestAnAppIsMadeInTwoClicksAndServed(t *testing.T) {
	s := newScene(t)
	var kept github.CreatedApp
	m := s.setup("", func(made github.CreatedApp) error { kept = made; return nil })
	status, header, page := m.open(m.click())
	if status != http.StatusOK || !strings.Contains(page, `href="`+kept.Page+`/installations/new"`) || !strings.Contains(page, "allow-bots: "+kept.Slug) {
		t.Errorf("its maker is shown %d\n%s", status, page)
	}
	made := m.end()
	if made == nil || *made != kept || made.ID == 0 {
		t.Fatalf("the server ends with %+v, kept is %+v", made, kept)
	}
	for _, never := range append(strings.Split(strings.TrimSpace(made.PrivateKey), "\n")[1:], made.Secret, "standin-client-secret") {
		if strings.Contains(page+m.log.String(), never) {
			t.Errorf("%s is on the page or in the log:\n%s\n%s", never, page, m.log)
		}
	}
	if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page comes with %v", header)
	}
	with := s.server()
	with.Access.App, with.Secret = &github.App{ID: made.ID, PrivateKey: made.PrivateKey}, made.Secret
	v := s.serve(with)
	body := s.label("ralph")
	r := v.delivery(guid(1), body)
	r.Header.Set("X-Hub-Signature-256", sign(made.Secret, body))
	if status, said := v.send(r); status != http.StatusAccepted {
		t.Fatalf("the App's first delivery is answered with %d %s", status, said)
	}
	s.await(dispatches)
	v.stop()
}

func TestTheFormAsksForWhatIsNeeded(t *testing.T) {
	s := newScene(t)
	for organization, path := range map[string]string{"": "/settings/apps/new", "acme": "/organizations/acme/settings/apps/new"} {
		m := s.setup(organization, keeps)
		where, text := m.form()
		if where.Path != path || "http://"+where.Host != s.URL || len(where.Query().Get("state")) < 20 {
			t.Errorf("the form goes to %s", where)
		}
		var got struct {
			Redirect string               `json:"redirect_url"`
			Hook     struct{ URL string } `json:"hook_attributes"`
			Public   bool
			May      map[string]string `json:"default_permissions"`
			Events   []string          `json:"default_events"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		may := map[string]string{"actions": "write", "checks": "read", "contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write", "statuses": "read"}
		events := []string{"issues", "issue_comment", "pull_request_review", "pull_request_review_comment", "check_suite", "status"}
		if got.Redirect != m.url+"/setup/made" || got.Hook.URL != m.url+"/webhook" || got.Public || !cmp.Equal(got.May, may) || !cmp.Equal(got.Events, events) {
			t.Errorf("the manifest is %s", text)
		}
		_, header, _ := m.open(m.told())
		if csp := header.Get("Content-Security-Policy"); !strings.Contains(csp, "; form-action "+s.URL+"; ") {
			t.Errorf("the form may go where %s", csp)
		}
		m.stop()
		if made := m.end(); made != nil {
			t.Errorf("without a click there is %+v", made)
		}
	}
}

// Without the address in the log, the pages create no App.
func TestOnlyWhoReadsTheLogMakesTheApp(t *testing.T) {
	s := newScene(t)
	m := s.setup("", func(github.CreatedApp) error { t.Error("an App is kept"); return nil })
	token := strings.TrimPrefix(m.told(), m.url+"/setup?token=")
	back := m.click()
	code := back[strings.Index(back, "?code="):strings.Index(back, "&state=")]
	for _, path := range []string{
		"/setup", "/setup?token=", "/setup?token=" + token[1:], "/setup?token=" + token + "x", "/setup?token=" + strings.ToLower(token),
		"/setup/made", "/setup/made" + code, "/setup/made" + code + "&state=", "/setup/made" + code + "&state=" + token,
	} {
		status, _, page := m.open(m.url + path)
		if status != http.StatusForbidden || strings.Contains(page, "<form") {
			t.Errorf("%s is answered with %d\n%s", path, status, page)
		}
	}
	if n := s.asked("POST /app-manifests/" + code[len("?code="):] + "/conversions"); n != 0 {
		t.Errorf("GitHub was asked for the App %d times", n)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url+"/webhook", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close() != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a delivery before there is an App is answered with %s", resp.Status)
	}
}

func TestAnAppThatIsNotTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		code func(back string) string
		keep error
		want string // in the log
	}{
		"an unknown code":     {func(back string) string { return strings.Replace(back, "?code=", "?code=XX", 1) }, nil, "github answers 404"},
		"a path for a code":   {func(back string) string { return strings.Replace(back, "?code=", "?code=..%2F", 1) }, nil, "not a code from GitHub"},
		"no room for its key": {func(back string) string { return back }, errors.New("the disk is full"), "the disk is full"},
		"half an answer":      {func(back string) string { return back }, nil, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			keep := c.keep
			m := s.setup("", func(github.CreatedApp) error { return keep })
			if name == "half an answer" {
				s.Inject(githubtest.Fault{Method: "POST", Path: "/app-manifests/*/conversions", Status: 201, CutAfter: -1})
			}
			back := m.click()
			if status, _, page := m.open(c.code(back)); status != http.StatusBadGateway || strings.Contains(page, "installations/new") {
				t.Errorf("it is answered with %d\n%s", status, page)
			}
			code, _, _ := strings.Cut(back[strings.Index(back, "?code=")+len("?code="):], "&")
			if log := m.log.String(); !strings.Contains(log, c.want) || strings.Contains(log, code) {
				t.Errorf("the log says\n%s", log)
			}
			keep = nil // and begun again it succeeds
			if status, _, page := m.open(m.click()); status != http.StatusOK {
				t.Fatalf("the second time it is answered with %d\n%s\n%s", status, page, m.log)
			}
			if m.end() == nil {
				t.Error("there is no App")
			}
		})
	}
}

// Only one of two Apps that are created at the same time is saved.
func TestOneAppIsMade(t *testing.T) {
	s := newScene(t)
	keeping, kept := make(chan struct{}), make(chan struct{})
	m := s.setup("", func(github.CreatedApp) error { close(keeping); <-kept; return nil })
	first, second := m.click(), m.click()
	var making sync.WaitGroup
	making.Go(func() { m.open(first) })
	<-keeping
	coming, after := m.line(second), m.line(m.url+"/healthz")
	if said, err := io.ReadAll(after); err != nil || !strings.Contains(string(said), " 200 ") {
		t.Errorf("the server is %s (%v)", said, err)
	}
	for takers() < 2 { // whose request was not read when the server closes gets no answer
		runtime.Gosched()
	}
	close(kept)
	if said, err := io.ReadAll(coming); err != nil || !strings.Contains(string(said), " 410 ") {
		t.Errorf("the second is answered with %s (%v)", said, err)
	}
	making.Wait()
	if m.end() == nil {
		t.Error("there is no App")
	}
	asked := 0
	for _, call := range s.Requests() {
		if strings.HasPrefix(call.Path, "/app-manifests/") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("GitHub was asked for %d Apps", asked)
	}
}

// line returns a connection with a request.
func (m *maker) line(address string) net.Conn {
	m.t.Helper()
	conn, err := (&net.Dialer{}).DialContext(m.t.Context(), "tcp", strings.TrimPrefix(m.url, "http://"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = conn.Close() })
	write(m.t, conn, fmt.Sprintf("GET %s HTTP/1.0\r\n\r\n", strings.TrimPrefix(address, m.url)))
	return conn
}

// takers returns how many requests wait to save an App.
func takers() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("(*setup).saveApp("))
}

func TestUnusableAddressesMakeNoApp(t *testing.T) {
	for _, address := range []string{"", "ralph.example.com", "http://ralph.example.com", "https://me:pw@ralph.example.com", "https://ralph.example.com?x=1", "ftp://ralph.example.com"} {
		listener, err := server.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (server.Setup{URL: address, Log: slog.New(slog.DiscardHandler), Limits: server.DefaultLimits}).Serve(t.Context(), listener); err == nil {
			t.Errorf("an App is made for %q", address)
		}
	}
}
