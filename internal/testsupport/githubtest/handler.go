package githubtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/githttp"
)

// maxBody is far above what GitHub takes, and keeps a runaway client from
// filling the memory of the test.
const maxBody = 16 << 20

// Call is one request as the server saw it.
type Call struct {
	Method string
	Path   string // without /api/v3
	Query  string
	Body   string // of API requests
	Actor  string // the login behind the token, or nothing
	Status int    // 0 while it is being answered, and when it never was
}

// OfGit reports whether git made the request, and not a client of the API.
func (c Call) OfGit() bool {
	parts := strings.Split(c.Path, "/") // of "/owner/name.git/info/refs"
	return len(parts) > 3 && strings.HasSuffix(parts[2], ".git")
}

// Requests lists all requests so far, in the order of their arrival.
func (s *Server) Requests() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := make([]Call, len(s.calls))
	for i, call := range s.calls {
		calls[i] = *call
	}
	return calls
}

func (s *Server) handler() http.Handler {
	rest := http.Handler(http.HandlerFunc(s.serveREST))
	if s.Wrap != nil {
		rest = s.Wrap(rest)
	}
	repositories := &githttp.Handler{Backend: s.backend, Temp: s.Temp, Open: s.open, Refuse: s.refuse, Revoke: s.revoke}
	mux := http.NewServeMux()
	mux.Handle("/api/v3/", rest)
	mux.HandleFunc("POST /api/graphql", s.serveGraphQL)
	mux.HandleFunc("GET /logs/", s.serveLog)
	mux.HandleFunc("GET /user-attachments/", s.serveAttachment)
	mux.Handle("/", repositories)
	return s.logged(s.faulty(mux))
}

// serveAttachment gives a file of the folder Attached. One whose name ends in .moved
// holds the address where it is.
func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	name := filepath.Join(s.Attached, filepath.Base(r.URL.Path))
	if to, err := os.ReadFile(name + ".moved"); err == nil {
		http.Redirect(w, r, strings.TrimSpace(string(to)), http.StatusFound)
		return
	}
	http.ServeFile(w, r, name)
}

// logged notes each request at its arrival, so that one that hangs is seen too.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &Call{Method: r.Method, Path: apiPath(r), Query: r.URL.RawQuery}
		if strings.HasPrefix(r.URL.Path, "/api/") {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				http.Error(w, "request body: "+err.Error(), http.StatusBadRequest)
				return
			}
			call.Body = string(body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		s.mu.Lock()
		if token, ok := s.tokens[credential(r)]; ok {
			call.Actor = token.Login
		}
		s.calls = append(s.calls, call)
		s.mu.Unlock()
		next.ServeHTTP(&statusWriter{ResponseWriter: w, note: func(status int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			call.Status = status
		}}, r)
	})
}

// apiPath returns the path as GitHub's documents write it, still escaped.
func apiPath(r *http.Request) string {
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(path, "/api/v3/"); ok {
		return "/" + rest
	}
	return path
}

// statusWriter tells the first status that is written.
type statusWriter struct {
	http.ResponseWriter
	note func(int)
	done bool
}

// WriteHeader tells the status and passes it on.
func (w *statusWriter) WriteHeader(status int) {
	if !w.done {
		w.done = true
		w.note(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serveREST answers one API request.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "request body: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.reply(w, &call{server: s, request: r, body: body}, s.dispatch)
}

// reply makes an answer under the lock, and sends it without: it holds copies
// only, and a slow client must not stop the others.
func (s *Server) reply(w http.ResponseWriter, c *call, judge func(*call) answer) {
	s.mu.Lock()
	a := judge(c)
	s.rateHeaders(w.Header(), c.token)
	s.mu.Unlock()
	send(w, a)
}

func (s *Server) dispatch(c *call) answer {
	if c.request.UserAgent() == "" {
		return fail(http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.")
	}
	i := slices.IndexFunc(routes, func(r route) bool { return r.match(c) })
	if i < 0 {
		return notFound()
	}
	if refused := s.admit(c, routes[i].need); refused != nil {
		return *refused
	}
	if len(c.body) > 0 && !json.Valid(c.body) {
		return fail(http.StatusBadRequest, "Problems parsing JSON")
	}
	return c.rendered(routes[i].handle(c))
}
