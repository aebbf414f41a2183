package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/githttp"
)

// Fault is something that goes wrong. The first one that fits a request is
// used; with no Status and no Hang the request is carried out as usual.
type Fault struct {
	Method string                   // empty: any
	Path   string                   // as path.Match has it (* stops at a slash), without /api/v3; empty: any
	Match  func(*http.Request) bool // nil: any

	Skip  int // lets so many pass first
	Times int // 0: once, negative: for ever

	Hang   bool // no answer until the client or the server gives up
	Done   bool // the request is carried out first, and only its answer is lost
	Status int
	Header http.Header
	Body   string
	// CutAfter ends the connection after so many bytes of the body, which its
	// Content-Length had promised to be longer; negative cuts before the first.
	CutAfter int
}

// Inject adds a fault.
func (s *Server) Inject(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault.Times == 0 {
		fault.Times = 1
	}
	s.faults = append(s.faults, &fault)
}

// Heal takes all faults away.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// ServerError returns an answer such as 500 in GitHub's form.
func ServerError(status int) Fault {
	return Fault{Status: status, Body: fmt.Sprintf(`{"message":%q,"documentation_url":%q,"status":"%d"}`, http.StatusText(status), docs, status)}
}

// BadGateway returns the page that GitHub's edge shows when no server answers behind
// it.
func BadGateway() Fault {
	return Fault{
		Status: http.StatusBadGateway,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p><strong>This page is taking too long to load.</strong></p></body></html>\n",
	}
}

// SecondaryLimit returns what GitHub answers to too many writes in a short time.
func SecondaryLimit(retryAfter time.Duration) Fault {
	fault := ServerError(http.StatusForbidden)
	fault.Body = fmt.Sprintf(`{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"%s/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits","status":"403"}`, docs)
	fault.Header = http.Header{"Retry-After": {strconv.Itoa(int(retryAfter.Seconds()))}}
	return fault
}

// take finds the fault for a request and uses it up.
func (s *Server) take(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		switch {
		case fault.Times == 0 || !fault.fits(r):
			continue
		case fault.Skip > 0:
			fault.Skip--
			continue
		case fault.Times > 0:
			fault.Times--
		}
		taken := *fault
		return &taken
	}
	return nil
}

func (f *Fault) fits(r *http.Request) bool {
	if f.Method != "" && f.Method != r.Method || f.Match != nil && !f.Match(r) {
		return false
	}
	if f.Path == "" {
		return true
	}
	fits, err := path.Match(f.Path, apiPath(r))
	return fits && err == nil
}

func (s *Server) faulty(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fault := s.take(r)
		if fault == nil {
			next.ServeHTTP(w, r)
			return
		}
		kept := new(githttp.Kept)
		if fault.Done || fault.Status == 0 && !fault.Hang {
			next.ServeHTTP(kept, r)
		}
		if fault.Hang {
			s.hang(r)
			return
		}
		fault.answer(w, kept)
	})
}

func (s *Server) hang(r *http.Request) {
	select {
	case <-s.closed:
	case <-r.Context().Done():
	}
	// Returning would answer 200.
	panic(http.ErrAbortHandler)
}

// answer sends the fault's own answer, or the one that was kept, perhaps cut.
func (f *Fault) answer(w http.ResponseWriter, kept *githttp.Kept) {
	status, header, body := kept.Status(), kept.Header(), kept.Body()
	if f.Status != 0 {
		status, header, body = f.Status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, []byte(f.Body)
	}
	maps.Copy(w.Header(), header)
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	promised := len(body)
	if f.CutAfter != 0 {
		promised++ // an empty body cannot be cut: the client would keep the connection for its next request
	}
	w.Header().Set("Content-Length", strconv.Itoa(promised))
	w.WriteHeader(status)
	if f.CutAfter == 0 {
		// A client that went away is its own test's business.
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:min(max(f.CutAfter, 0), len(body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
