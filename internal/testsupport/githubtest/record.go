package githubtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/githttp"
)

// Recorded is a request and its answer.
type Recorded struct {
	Method, URL string
	Header      http.Header
	Body        []byte

	Status       int
	AnswerHeader http.Header
	Answer       []byte
}

// Record writes each call of next as a line of JSON. Package contract judges them later: a program that knows GitHub's
// description of its API starts slowly, and tests start ralph very often.
func Record(next http.Handler, to io.Writer) http.Handler {
	var mu sync.Mutex
	lines := json.NewEncoder(to)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := Recorded{Method: r.Method, URL: r.URL.String(), Header: r.Header.Clone()}
		kept := &githttp.Kept{}
		var err error
		if call.Body, err = io.ReadAll(r.Body); err == nil {
			r.Body = io.NopCloser(bytes.NewReader(call.Body))
			next.ServeHTTP(kept, r)
			call.Status, call.AnswerHeader, call.Answer = kept.Status(), kept.Header(), kept.Body()
			mu.Lock()
			err = lines.Encode(call)
			mu.Unlock()
		}
		if err != nil {
			http.Error(w, "record a call: "+err.Error(), http.StatusInternalServerError)
			return
		}
		kept.Send(w)
	})
}
