// Package modeltest is a model server on loopback for tests: Anthropic
// Messages, OpenAI Responses and Chat Completions, and Gemini, streamed or
// not. It answers from a script and records every request. For tests only.
package modeltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Server answers one script. It closes with its test.
type Server struct {
	URL string // without a path and without a slash at the end

	mu     sync.Mutex
	script []Answer
	asked  []Request
	turns  int
	closed chan struct{}
}

// Start serves script on a free port until the test is over.
func Start(tb testing.TB, script ...Answer) *Server {
	tb.Helper()
	s := &Server{script: slices.Clone(script), closed: make(chan struct{})}
	server := httptest.NewServer(s)
	s.URL = server.URL
	tb.Cleanup(func() {
		close(s.closed) // else those who stall would be waited for
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Requests returns all that came, in their order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Work returns the requests that the script answered.
func (s *Server) Work() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Work })
}

// Left returns how many answers of the script were not requested.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script)
}

// ServeHTTP keeps the request and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // to its end, or a client that leaves is not noticed
	if err != nil {
		return // the client is gone
	}
	request := read(r, body)
	answer, turn := s.take(request)
	switch {
	case answer.Stall:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case request.counts:
		sendJSON(w, http.StatusOK, request.speaks.counted)
	case !request.asks:
		sendJSON(w, http.StatusNotFound, map[string]any{"error": map[string]any{"message": "there is no " + request.Path}})
	case answer.Status != 0:
		refuse(w, request, answer)
	default:
		say(w, request, turn, answer.Cut)
	}
}

// take keeps a request and takes its answer off the script. A question that is
// not the agent's work gets a bland one, or the refusal that is next: a server
// that refuses a key refuses it to everyone.
func (s *Server) take(r Request) (Answer, turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	next := Answer{Words: "The script is over."}
	if len(s.script) > 0 {
		next = s.script[0]
	}
	if !r.Work {
		if next.Status == 0 {
			next = Answer{Words: r.bland()}
		}
		return next, r.turn(next, 0)
	}
	if len(s.script) > 0 {
		s.script[0].Times--
		if s.script[0].Times <= 0 {
			s.script = s.script[1:]
		}
	}
	s.turns++
	return next, r.turn(next, s.turns)
}
