package modeltest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// dialect is how one API words things.
type dialect struct {
	name    string
	counted any                                // the answer to a count of tokens
	whole   func(turn) any                     // an answer in one piece
	events  func(turn) []event                 // the same as a stream
	refusal func(a Answer, message string) any // the body of an HTTP error
	ending  string                             // the last line of a stream; may be empty
}

// event is one of a stream. Only some APIs name theirs.
type event struct {
	name string
	data map[string]any
}

// refusals are the words of an HTTP error, as little as they matter.
var refusals = map[int]string{
	http.StatusUnauthorized:        "invalid x-api-key",
	http.StatusForbidden:           "this key may not use that model",
	http.StatusTooManyRequests:     "this request would exceed the rate limit",
	http.StatusInternalServerError: "internal server error",
	529:                            "overloaded",
}

func refuse(w http.ResponseWriter, r Request, a Answer) {
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(a.RetryAfter/time.Second)))
	}
	message := a.Words
	if message == "" {
		message = refusals[a.Status]
	}
	sendJSON(w, a.Status, r.speaks.refusal(a, message))
}

func sendJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body)) // who went away needs no answer
}

// say answers, or begins to.
func say(w http.ResponseWriter, r Request, t turn, cut bool) {
	var parts [][]byte
	if r.stream {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range r.speaks.events(t) {
			parts = append(parts, e.line())
		}
		parts = append(parts, []byte(r.speaks.ending))
	} else {
		w.Header().Set("Content-Type", "application/json")
		body := encode(r.speaks.whole(t))
		parts = [][]byte{body[:len(body)/2], body[len(body)/2:]}
	}
	if cut {
		parts = parts[:max(len(parts)-1, 2)/2] // in the middle of the words, if there are any
	}
	for _, part := range parts {
		_, _ = w.Write(part)
		_ = http.NewResponseController(w).Flush()
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

func (e event) line() []byte {
	line := "data: " + string(encode(e.data)) + "\n\n"
	if e.name != "" {
		line = "event: " + e.name + "\n" + line
	}
	return []byte(line)
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("modeltest: " + err.Error()) // what a dialect made is always JSON
	}
	return data
}
