package githubtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

const (
	docs     = "https://docs.github.com/rest"
	allQuota = 5000
)

// object is a JSON object on its way out.
type object map[string]any

// answer is what a request gets.
type answer struct {
	status int
	header http.Header
	body   any
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func created(body object) answer {
	header := http.Header{}
	if location, ok := body["url"].(string); ok {
		header.Set("Location", location)
	}
	return answer{status: http.StatusCreated, header: header, body: body}
}

func noContent() answer { return answer{status: http.StatusNoContent} }

func fail(status int, message string) answer {
	return answer{status: status, body: object{
		"message": message, "documentation_url": docs, "status": strconv.Itoa(status),
	}}
}

func notFound() answer { return fail(http.StatusNotFound, "Not Found") }

// problem is one entry of a 422.
type problem struct {
	Resource string `json:"resource"`
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message,omitempty"`
	Value    string `json:"value,omitempty"`
}

func invalid(p problem) answer {
	reply := fail(http.StatusUnprocessableEntity, "Validation Failed")
	if fields, ok := reply.body.(object); ok {
		fields["errors"] = []problem{p}
	}
	return reply
}

// send writes an answer the way GitHub's edge does.
func send(w http.ResponseWriter, a answer) {
	maps.Copy(w.Header(), a.header)
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	page, isPage := a.body.(text)
	content, kind := []byte(page), "text/html; charset=utf-8"
	if !isPage {
		var err error
		content, err = json.Marshal(a.body)
		if err != nil {
			http.Error(w, "encode the answer: "+err.Error(), http.StatusInternalServerError)
			return
		}
		kind = "application/json; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(a.status)
	// A client that went away is its own test's business.
	_, _ = w.Write(content)
}

// reset returns the end of the hour under way.
func (s *Server) reset() int64 {
	now := Epoch.Add(time.Duration(s.ticks) * time.Second)
	if s.Now != nil {
		now = s.Now()
	}
	return now.Truncate(time.Hour).Add(time.Hour).Unix()
}

func (s *Server) rateHeaders(header http.Header, token *Token) {
	used := 0
	if token != nil {
		used = s.used[token.value]
	}
	header.Set("X-RateLimit-Limit", strconv.Itoa(allQuota))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(max(allQuota-used, 0)))
	header.Set("X-RateLimit-Used", strconv.Itoa(used))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(s.reset(), 10))
	header.Set("X-RateLimit-Resource", "core")
	header.Set("X-GitHub-Request-Id", fmt.Sprintf("%04X:%04X", s.lastID&0xffff, len(s.calls)))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// orNull returns the JSON null for what GitHub leaves empty as null.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}
