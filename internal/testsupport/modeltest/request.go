package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Request is what arrived.
type Request struct {
	Method, Path string // the path with its query
	Header       http.Header
	Body         string
	Dialect      string // anthropic, responses, chat or gemini; empty for any other path
	Model        string
	Work         bool // it offers to run commands, so an agent works; else a helper asks, for a title or a quota

	speaks *dialect
	asks   bool // for an answer
	counts bool // for a count of tokens
	stream bool
	shell  tool // which runs commands
}

// Key returns the key that came with it, wherever this maker's clients put theirs.
func (r Request) Key() string {
	for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
		if value := r.Header.Get(name); value != "" {
			return strings.TrimPrefix(value, "Bearer ")
		}
	}
	return ""
}

// asked is a body, as far as anybody's is read here.
type asked struct {
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	Tools  []tool          `json:"tools"`
	Input  json.RawMessage `json:"input"` // of responses: a text, or items
}

// tool is one that is offered, or a drawer of them.
type tool struct {
	Name         string `json:"name"`
	Type         string `json:"type"`
	Tools        []tool `json:"tools"`                // a namespace of responses, or its additional tools
	Function     *tool  `json:"function"`             // chat
	Declarations []tool `json:"functionDeclarations"` // gemini
}

// shell returns the tool that runs commands.
func (t tool) shell() (found tool, is bool) {
	if shells[t.Name] != nil {
		return t, true
	}
	inner := slices.Concat(t.Tools, t.Declarations)
	if t.Function != nil {
		inner = append(inner, *t.Function)
	}
	return shellOf(inner)
}

func shellOf(tools []tool) (found tool, is bool) {
	for _, offered := range tools {
		if found, is = offered.shell(); is {
			return found, true
		}
	}
	return tool{}, false
}

func read(r *http.Request, body []byte) Request {
	request := Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)}
	var a asked
	if r.Method != http.MethodPost || json.Unmarshal(body, &a) != nil {
		return request
	}
	request.Model, request.stream = a.Model, a.Stream
	request.route(r.URL.Path)
	var items []tool
	_ = json.Unmarshal(a.Input, &items) // some models find their tools among the input
	var offered bool
	request.shell, offered = shellOf(append(a.Tools, items...))
	request.Work = request.asks && offered
	return request
}

// route says whose API a path belongs to.
func (r *Request) route(path string) {
	switch path {
	case "/v1/messages":
		r.speak(&anthropic)
	case "/v1/messages/count_tokens":
		r.speaks, r.Dialect, r.counts = &anthropic, anthropic.name, true
	case "/v1/responses":
		r.speak(&responses)
	case "/v1/chat/completions":
		r.speak(&chat)
	default:
		r.routeGemini(path)
	}
}

// routeGemini finds model and method, which Gemini has in the path.
func (r *Request) routeGemini(path string) {
	rest, found := strings.CutPrefix(path, "/v1beta/models/")
	model, method, _ := strings.Cut(rest, ":")
	if !found {
		return
	}
	switch method {
	case "generateContent":
		r.speak(&gemini)
	case "streamGenerateContent":
		r.speak(&gemini)
		r.stream = true
	case "countTokens":
		r.speaks, r.Dialect, r.counts = &gemini, gemini.name, true
	}
	r.Model = model
}

func (r *Request) speak(d *dialect) { r.speaks, r.Dialect, r.asks = d, d.name, true }

// bland returns the answer to a helper: a word, or all that any of them is known to
// want of a JSON object, without which they ask again for minutes.
func (r Request) bland() string {
	for _, form := range []string{`"responseMimeType":"application/json"`, `"json_schema"`, `"json_object"`} {
		if strings.Contains(r.Body, form) {
			return `{"title":"ok","complexity_reasoning":"ok","complexity_score":50}`
		}
	}
	return "ok"
}
