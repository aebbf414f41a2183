package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/trigger"
)

const (
	largest = 25 << 20 // GitHub delivers no more
	readers = 32       // bodies that are read at once: so much memory, and no more
)

type refusal struct {
	status  int
	outcome outcome
	why     string
}

func (r *refusal) Error() string { return r.why }

// webhook answers a delivery at once; the work is done after it.
func (d *service) webhook(w http.ResponseWriter, r *http.Request) {
	id, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	body, err := d.receive(w, r)
	if err == nil {
		err = d.accept(id, event, body)
	}
	if no, is := errors.AsType[*refusal](err); is {
		d.metrics.count(no.outcome)
		// Only what is genuine is written down as it came.
		d.Log.Debug("not taken in", "outcome", no.outcome, "why", no.why)
		if no.status == http.StatusRequestEntityTooLarge || no.status == http.StatusRequestTimeout {
			w.Header().Set("Connection", "close")
		}
		answer(w, no.status, no.why)
		return
	}
	answer(w, http.StatusAccepted, "taken in")
}

// ids are what GitHub numbers deliveries with.
var ids = pattern.Of(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func (d *service) receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "application/json":
		return nil, &refusal{http.StatusUnsupportedMediaType, malformed, "the App's webhook has to send application/json"}
	case !ids.MatchString(r.Header.Get("X-GitHub-Delivery")):
		return nil, &refusal{http.StatusBadRequest, malformed, "X-GitHub-Delivery names no delivery"}
	case r.Header.Get("X-GitHub-Event") == "":
		return nil, &refusal{http.StatusBadRequest, malformed, "X-GitHub-Event names no event"}
	case r.ContentLength > largest:
		return nil, errTooLarge
	}
	select {
	case d.reading <- struct{}{}:
		defer func() { <-d.reading }()
	default:
		return nil, errTooBusy
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, &refusal{http.StatusRequestTimeout, malformed, "the delivery is incomplete"}
	}
	if github.CheckSignature(d.Secret, r.Header.Get("X-Hub-Signature-256"), body) != nil {
		return nil, &refusal{http.StatusUnauthorized, forged, "the signature is not GitHub's"}
	}
	return body, nil
}

var (
	errTooLarge = &refusal{http.StatusRequestEntityTooLarge, huge, fmt.Sprintf("a delivery has at most %d bytes", largest)}
	errTooBusy  = &refusal{http.StatusServiceUnavailable, busy, "too many deliveries: it is read from GitHub's log later"}
)

// accept puts wanted deliveries into the queue. A duplicate is no error.
func (d *service) accept(id, event string, body []byte) error {
	if !d.memory.take(id) {
		return &refusal{http.StatusOK, replayed, "duplicate delivery"}
	}
	o, wanted, err := d.read(id, event, body)
	switch at := cmp.Or(o.trigger.At, o.trigger.CI.At); {
	case err != nil:
		return &refusal{http.StatusBadRequest, malformed, err.Error()}
	case !wanted:
		return nil
	case !at.IsZero() && d.Now().Sub(at) > missed: // memory does not outlast a restart
		return &refusal{http.StatusOK, replayed, "too old"}
	case !d.memory.did(id, o.deed()):
		return &refusal{http.StatusOK, replayed, "duplicate of another delivery"}
	}
	select {
	case d.queue <- o:
		return nil
	default:
		d.memory.forget(id)
		return errTooBusy
	}
}

// branches begins the names of the branches whose CI is relayed.
const branches = "ralph/"

func (d *service) read(id, event string, body []byte) (order, bool, error) {
	read, err := github.ReadTrigger(event, body)
	if err != nil {
		return order{}, false, err
	}
	o := order{id: id, trigger: read, at: d.Now()}
	_, why := trigger.CommandOf(read, d.Rules)
	if why == "" && read.IsCI() && !strings.HasPrefix(read.CI.Branch, branches) {
		why = "the branch is not one of ralph's"
	}
	if why != "" {
		d.metrics.count(unwanted)
		d.Log.Debug("not for ralph", "delivery", id, "event", event, "repo", read.Repo.String(), "why", why)
		return o, false, nil
	}
	return o, true, nil
}

// remembered is more than most servers get in a day.
const remembered = 50_000

// memory knows recent deliveries by number, which is not signed, and by content, which is.
type memory struct {
	mu    sync.Mutex
	known map[string]int // number or deed: the place in order
	order []delivery     // a ring; empty where one was forgotten
	next  int
	owed  map[string]time.Time // taken in, and still to be seen to; when they came
}

type delivery struct {
	id   string
	deed string // see order.deed; empty: nothing is to be done about it
}

func newMemory(size int) *memory {
	return &memory{known: map[string]int{}, order: make([]delivery, size), owed: map[string]time.Time{}}
}

// take remembers id, and reports whether it is new.
func (m *memory) take(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[id]; old {
		return false
	}
	delete(m.owed, id)
	m.drop(m.next)
	m.known[id], m.order[m.next] = m.next, delivery{id: id}
	m.next = (m.next + 1) % len(m.order)
	return true
}

// did remembers what the delivery id is about, and tells whether that is new.
func (m *memory) did(id, deed string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[deed]; old {
		return false
	}
	if at, is := m.known[id]; is {
		m.known[deed], m.order[at].deed = at, deed
	}
	return true
}

func (m *memory) drop(at int) {
	delete(m.known, m.order[at].id)
	delete(m.known, m.order[at].deed)
	m.order[at] = delivery{}
}

// forget lets id come again: it was taken in, and could not be seen to.
func (m *memory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, is := m.known[id]; is {
		m.drop(at)
	}
}

// owe forgets id as well, and that it was taken in long ago does not matter.
func (m *memory) owe(id string, at time.Time) {
	m.forget(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed[id] = at
}

func (m *memory) owes(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is := m.owed[id]
	return is
}

// owesAny forgets what came before since, which GitHub's log is not read for, and tells
// whether anything is left.
func (m *memory) owesAny(since time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.owed, func(_ string, at time.Time) bool { return at.Before(since) })
	return len(m.owed) > 0
}
