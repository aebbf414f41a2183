package server_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/server"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/contract"
)

const (
	shop       = "acme/shop"
	secret     = "it is shared with github alone"
	dispatches = "POST /repos/acme/shop/actions/workflows/ralph.yml/dispatches"
	runs       = "GET /repos/acme/shop/actions/workflows/ralph.yml/runs"
	hookLog    = "GET /app/hook/deliveries"
)

// scene is a GitHub with an App that is installed in one repository.
type scene struct {
	*githubtest.Server
	t     *testing.T
	key   string
	calls chan string // that GitHub has answered
	ahead atomic.Int64
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, calls: make(chan string, 10_000)}
	checked := contract.Around(t, os.Getenv("CONTRACT") != "")
	s.Server = &githubtest.Server{Now: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }, Wrap: func(next http.Handler) http.Handler {
		if checked != nil {
			next = checked(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			s.calls <- r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v3")
		})
	}}
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "shop", Dir: bare(t), Roles: map[string]string{"mia": "write"}})
	s.AddIssue(shop, githubtest.Issue{Title: "Add a cart", Body: "It is missing.<!-- and so are you -->", Author: "otto"})
	s.AddLabel(shop, 1, "ralph", "bug")
	s.addApp()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *scene) addApp() {
	s.t.Helper()
	s.key = githubtest.PEM(githubtest.Key())
	permissions := githubtest.WriteAll()
	permissions["workflows"] = "write"
	s.AddApp(githubtest.App{ID: 12, Slug: "ralph-loop", Owner: "acme", Key: &githubtest.Key().PublicKey, Installation: 345, Repos: []string{shop}, Permissions: permissions})
}

// bare makes the files of a bare repository that the stand-in reads.
func bare(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	heads := filepath.Join(dir, "refs", "heads")
	if err := os.MkdirAll(heads, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(heads, "main"), []byte(strings.Repeat("a", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// server returns the server's settings, with short times.
func (s *scene) server() server.Server {
	limits := server.DefaultLimits
	limits.LogInterval = time.Hour
	return server.Server{
		Access: github.Access{BaseURL: s.URL + "/api/v3", App: &github.App{ID: 12, PrivateKey: s.key}, Retry: &github.RetryPolicy{Tries: 1, MaxWait: time.Second}},
		Secret: secret, Now: time.Now, Limits: limits,
	}
}

// serving is a running server.
type serving struct {
	t    *testing.T
	url  string
	log  *lockedBuffer
	stop func()
}

func (s *scene) serve(with server.Server) *serving {
	s.t.Helper()
	listener, err := server.Listen(s.t.Context(), "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	log := &lockedBuffer{}
	with.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- with.Serve(ctx, listener) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("Serve ends with %v", err)
		}
	})
	s.t.Cleanup(stop)
	return &serving{t: s.t, url: "http://" + listener.Addr().String(), log: log, stop: stop}
}

// await waits for a request to GitHub.
func (s *scene) await(call string) {
	s.t.Helper()
	var before []string
	late := time.After(time.Minute)
	for {
		select {
		case got := <-s.calls:
			if got == call {
				return
			}
			before = append(before, got)
		case <-late:
			s.t.Fatalf("GitHub was never asked for %s, but for %q", call, before)
		}
	}
}

// dispatched returns how many workflows GitHub was asked to start.
func (s *scene) dispatched() int {
	n := 0
	for _, c := range s.Requests() {
		if c.Method+" "+c.Path == dispatches {
			n++
		}
	}
	return n
}

// label returns the delivery of a label event. Each has another time.
func (s *scene) label(name string) []byte {
	s.t.Helper()
	s.ahead.Add(int64(time.Second))
	s.EditIssue(shop, 1, func(*githubtest.Issue) {})
	payload, err := s.LabelEvent(githubtest.Event{Repo: shop, Issue: 1, Sender: "mia"}, name)
	if err != nil {
		s.t.Fatal(err)
	}
	return payload
}

// guid returns the id of the n-th delivery.
func guid(n int) string { return fmt.Sprintf("0b989ba4-242f-11e5-81e1-%012d", n) }

func sign(key string, body []byte) string {
	sum := hmac.New(sha256.New, []byte(key))
	sum.Write(body)
	return "sha256=" + hex.EncodeToString(sum.Sum(nil))
}

// delivery returns a request with body as GitHub sends it.
func (v *serving) delivery(id string, body []byte) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.url+"/webhook", bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "issues")
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", sign(secret, body))
	return r
}

func (v *serving) send(r *http.Request) (int, string) {
	v.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

// deliver sends body, and checks the status of the answer.
func (v *serving) deliver(id string, body []byte, want int) {
	v.t.Helper()
	if status, said := v.send(v.delivery(id, body)); status != want {
		v.t.Fatalf("delivery %s is answered with %d %s, want %d", id, status, said, want)
	}
}

func (v *serving) get(path string) string {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.url+path, http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	status, said := v.send(r)
	if status != http.StatusOK {
		v.t.Fatalf("%s is answered with %d %s", path, status, said)
	}
	return said
}

// counted checks the server's metric of an outcome.
func (v *serving) counted(outcome string, n int) {
	v.t.Helper()
	line := fmt.Sprintf("ralph_deliveries_total{outcome=%q} %d\n", outcome, n)
	if said := v.get("/metrics"); !strings.Contains(said, line) {
		v.t.Errorf("want %s in\n%s", line, said)
	}
}

// lockedBuffer is a log with several writers.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
