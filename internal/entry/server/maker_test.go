package server_test

import (
	"context"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"github.com/ralph-loop/ralph/internal/entry/server"
	"github.com/ralph-loop/ralph/internal/hub/github"
)

// maker is a person with a browser who uses a server without an App.
type maker struct {
	*scene
	url  string // of the server
	log  *lockedBuffer
	end  func() *github.CreatedApp // what the server ended with
	stop func()
}

// setup starts a server without an App. It saves an App with keep.
func (s *scene) setup(organization string, keep func(github.CreatedApp) error) *maker {
	s.t.Helper()
	listener, err := server.Listen(s.t.Context(), "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	m := &maker{scene: s, url: "http://" + listener.Addr().String(), log: &lockedBuffer{}}
	with := server.Setup{
		Access: github.Access{BaseURL: s.URL + "/api/v3", Retry: s.server().Access.Retry}, URL: m.url, Organization: organization, Keep: keep,
		Log: slog.New(slog.NewJSONHandler(m.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Limits: server.DefaultLimits,
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan *github.CreatedApp, 1)
	go func() {
		made, err := with.Serve(ctx, listener)
		if err != nil {
			s.t.Errorf("Serve ends with %v", err)
		}
		ended <- made
	}()
	m.stop = cancel
	m.end = sync.OnceValue(func() *github.CreatedApp { return <-ended })
	s.t.Cleanup(func() { cancel(); m.end() })
	return m
}

func keeps(github.CreatedApp) error { return nil }

// open loads a page.
func (m *maker) open(address string) (status int, header http.Header, page string) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		m.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(said)
}

// told returns the address in the log.
func (m *maker) told() string {
	m.t.Helper()
	for { // the server answers before it has written
		if found := regexp.MustCompile(`"page":"([^"]+)"`).FindStringSubmatch(m.log.String()); found != nil {
			return found[1]
		}
		m.open(m.url + "/healthz")
	}
}

var (
	action   = regexp.MustCompile(`<form action="([^"]+)" method="post">`)
	manifest = regexp.MustCompile(`name="manifest" value="([^"]+)"`)
)

// form returns the URL and the fields of the page's form.
func (m *maker) form() (where *url.URL, text string) {
	m.t.Helper()
	status, _, page := m.open(m.told())
	to, with := action.FindStringSubmatch(page), manifest.FindStringSubmatch(page)
	if status != http.StatusOK || to == nil || with == nil {
		m.t.Fatalf("the page has no form (%d):\n%s", status, page)
	}
	where, err := url.Parse(html.UnescapeString(to[1]))
	if err != nil {
		m.t.Fatal(err)
	}
	return where, html.UnescapeString(with[1])
}

// click creates the App on GitHub, and returns the address of the redirect.
func (m *maker) click() string {
	m.t.Helper()
	where, text := m.form()
	back, err := m.MakeApp("acme", where.Query().Get("state"), text, shop)
	if err != nil {
		m.t.Fatal(err)
	}
	return back
}
