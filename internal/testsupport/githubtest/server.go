// Package githubtest is a GitHub that fits in a test: REST, the two GraphQL
// mutations that REST lacks, and git over HTTP, on a loopback port, out of
// memory and bare repositories. It says what GitHub says, refusals and their
// wording included, and never more: what it cannot do it answers with 404.
// It speaks JSON by itself, so that a client cannot be wrong together with it.
package githubtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Epoch is where time starts on a Server that was given no clock.
var Epoch = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// Server is one GitHub. Fields are set before Start; the methods may be called
// before or after it, from any goroutine.
type Server struct {
	// Now stamps every mutation. Without it time starts at Epoch and gains a
	// second with each mutation, which makes payloads repeatable, but also the
	// tokens of an App look expired to a client with a real clock.
	Now func() time.Time
	// Git runs git in a bare repository and returns what it printed. Without it
	// ancestry is judged by equal commits only, and pushes of workflow files pass.
	Git func(ctx context.Context, dir string, args ...string) (string, error)
	// Temp is the directory for pushes in flight; empty means the system's.
	Temp string
	// Attached is the folder of the files that people attached to issues.
	Attached string
	// Overlay is a folder whose files lie over those of each default branch, for who reads them without git.
	Overlay string
	// Wrap stands around the REST API, inside the faults: a validator, a recorder.
	Wrap func(http.Handler) http.Handler
	// RefusePush answers why a push must not be, or nothing.
	RefusePush func(Push) string
	// URL is set by Start: the server's root, without a slash at the end.
	URL string

	told       sync.Map // what git said of objects by their ids
	mu         sync.Mutex
	ticks      int
	lastID     int64
	users      map[string]*User
	repos      map[string]*repo
	tokens     map[string]*Token
	used       map[string]int
	apps       map[int64]App
	faults     []*Fault
	deliveries []Delivery
	calls      []*Call
	tokenSeq   int

	http   *http.Server
	served chan error
	closed chan struct{}
	conns  sync.WaitGroup

	lookUp  sync.Once
	program string // git-http-backend
}

// Start listens on a free loopback port and serves until Close.
func (s *Server) Start() error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the GitHub stand-in: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.closed = make(chan struct{})
	s.served = make(chan error, 1)
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: time.Minute,
		ConnState:         s.count,
	}
	go func() { s.served <- s.http.Serve(listener) }()
	return nil
}

// Close ends stalled requests, closes all connections, and returns when the
// last handler, and with it the last git, is gone. A second Close does nothing.
func (s *Server) Close() error {
	if s.http == nil {
		return nil
	}
	close(s.closed)
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.conns.Wait()
	s.http = nil
	if err != nil {
		return fmt.Errorf("close the GitHub stand-in: %w", err)
	}
	return nil
}

// count follows connections, since http.Server.Close does not wait for the
// goroutines that serve them. StateNew comes from the accepting goroutine, so
// nothing is added once Serve has returned.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	case http.StateActive, http.StateIdle:
	}
}

// now returns the moment of a mutation; callers hold the mutex.
func (s *Server) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC().Truncate(time.Second)
	}
	s.ticks++
	return Epoch.Add(time.Duration(s.ticks) * time.Second)
}

// nextID is unique over all kinds of things, which GitHub's are not: a mixed-up
// id then finds nothing instead of something.
func (s *Server) nextID() int64 {
	if s.lastID == 0 {
		s.lastID = 1000
	}
	s.lastID++
	return s.lastID
}
