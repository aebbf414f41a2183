package githttp

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
)

// Kept is an answer that is looked at before it is sent.
type Kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header being made.
func (k *Kept) Header() http.Header {
	if k.header == nil {
		k.header = http.Header{}
	}
	return k.header
}

// WriteHeader keeps the first status.
func (k *Kept) WriteHeader(status int) { k.status = cmp.Or(k.status, status) }

func (k *Kept) Write(p []byte) (int, error) { return k.body.Write(p) }

// Status returns what a client would see: 200 unless set.
func (k *Kept) Status() int { return cmp.Or(k.status, http.StatusOK) }

// Body returns what was written.
func (k *Kept) Body() []byte { return k.body.Bytes() }

// Send sends it on.
func (k *Kept) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), k.Header())
	w.WriteHeader(k.Status())
	// A client that went away is its own test's business.
	_, _ = w.Write(k.Body())
}
