package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const maxBody = 25 << 20 // GitHub's limit

type refusal struct {
	status  int
	outcome outcome
	why     string
}

func (r *refusal) Error() string { return r.why }

// webhook answers a delivery at once. Workers handle it later.
func (d *service) webhook(w http.ResponseWriter, r *http.Request) {
	err := d.take(w, r)
	if refused, ok := errors.AsType[*refusal](err); ok {
		d.metrics.count(refused.outcome)
		// Without foreign text: the signature may be missing.
		d.Log.Debug("refused a delivery", "outcome", refused.outcome, "why", refused.why)
		if refused.status == http.StatusRequestEntityTooLarge || refused.status == http.StatusRequestTimeout {
			w.Header().Set("Connection", "close")
		}
		answer(w, refused.status, refused.why)
		return
	}
	answer(w, http.StatusAccepted, "accepted")
}

// take reads a delivery, and puts it into the queue if it is wanted.
func (d *service) take(w http.ResponseWriter, r *http.Request) error {
	body, err := d.receive(w, r)
	if err != nil {
		return err
	}
	return d.accept(r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event"), body)
}

// deliveryID matches GitHub's ids of deliveries.
var deliveryID = pattern.Of(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func (d *service) receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "application/json":
		return nil, &refusal{
			status:  http.StatusUnsupportedMediaType,
			outcome: malformed,
			why:     "want application/json: set the content type of the App's webhook",
		}
	case !deliveryID.MatchString(r.Header.Get("X-GitHub-Delivery")):
		return nil, &refusal{http.StatusBadRequest, malformed, "X-GitHub-Delivery has no valid id"}
	case r.Header.Get("X-GitHub-Event") == "":
		return nil, &refusal{http.StatusBadRequest, malformed, "X-GitHub-Event is empty"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, &refusal{http.StatusRequestTimeout, malformed, "the delivery is incomplete"}
	}
	if github.CheckSignature(d.Secret, r.Header.Get("X-Hub-Signature-256"), body) != nil {
		return nil, &refusal{http.StatusUnauthorized, forged, "the signature is wrong"}
	}
	return body, nil
}

var (
	errTooLarge = &refusal{http.StatusRequestEntityTooLarge, huge, fmt.Sprintf("want at most %d bytes", maxBody)}
	errTooBusy  = &refusal{
		http.StatusServiceUnavailable, busy,
		"too many deliveries: this one will be read from GitHub's log",
	}
)

// accept puts wanted deliveries into the queue. Duplicates are refused with status 200.
func (d *service) accept(id, event string, body []byte) error {
	if !d.ids.add(id) {
		return &refusal{http.StatusOK, replayed, "duplicate delivery"}
	}
	o, wanted, err := d.read(id, event, body)
	if err != nil {
		return &refusal{http.StatusBadRequest, malformed, err.Error()}
	}
	if !wanted {
		return nil
	}
	// The memory is empty after a restart. A delivery without a time is as old as any.
	if at := cmp.Or(o.trigger.At, o.trigger.CI.At); d.Now().Sub(at) > maxAge {
		return &refusal{http.StatusOK, replayed, "too old"}
	}
	if !d.contents.add(o.contentHash()) {
		return &refusal{http.StatusOK, replayed, "duplicate of another delivery"}
	}
	select {
	case d.queue <- o:
		return nil
	default:
		d.forget(o)
		return errTooBusy
	}
}

func (d *service) read(id, event string, body []byte) (order, bool, error) {
	read, why, err := github.ReadWanted(event, body, d.Rules)
	if err != nil {
		return order{}, false, err
	}
	o := order{id: id, trigger: read, at: d.Now()}
	if why != "" {
		d.metrics.count(unwanted)
		d.Log.Debug("not for ralph", "delivery", id, "event", event, "repo", read.Repo.String(), "why", why)
		return o, false, nil
	}
	return o, true, nil
}

// forget accepts a delivery again.
func (d *service) forget(o order) {
	d.ids.forget(o.id)
	d.contents.forget(o.contentHash())
}

// memorySize is more deliveries than most servers get in a day.
const memorySize = 50_000

// memory has recent ids, or hashes of contents. GitHub does not sign ids: in one memory, a signed delivery with
// ever new ids would push out its own hash.
type memory struct {
	mu    sync.Mutex
	known map[string]int // the index in ring
	ring  []string
	next  int
}

func newMemory(size int) *memory {
	return &memory{known: map[string]int{}, ring: make([]string, size)}
}

// add adds an id or hash, and reports whether it is new.
func (m *memory) add(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[key]; old {
		return false
	}
	if oldest := m.ring[m.next]; m.known[oldest] == m.next { // not forgotten and added again since
		delete(m.known, oldest)
	}
	m.known[key] = m.next
	m.ring[m.next] = key
	m.next = (m.next + 1) % len(m.ring)
	return true
}

// forget removes an id or hash, so that add accepts it again.
func (m *memory) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, key)
}
