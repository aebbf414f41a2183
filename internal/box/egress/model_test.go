package egress_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// realKey is for the real servers only; dummy is the sandbox's token.
const (
	realKey = "sk-canary-7d1f0c5be2"
	dummy   = "the-agents-own-token"
)

func address(tb testing.TB, s string) *url.URL {
	tb.Helper()
	u := must.Get(url.Parse(s))(tb)
	return u
}

// testModel is a running Model, and what it recorded.
type testModel struct {
	testing.TB
	model   *egress.Model
	url     string
	endTurn func()
	stop    func() error

	mu      sync.Mutex
	refused []egress.Refusal
}

// newTestModel returns a Model for the server at an address, for all dialects.
func newTestModel(tb testing.TB, server string, set func(*egress.Model)) *testModel {
	tb.Helper()
	d := &testModel{TB: tb}
	d.model = &egress.Model{
		Transport: egress.Route{}.Transport(),
		Prices:    map[string]price.Rate{"big": {Input: 1, Output: 10, CacheRead: 0.1, CacheWrite: 2}},
		Refused: func(r egress.Refusal) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.refused = append(d.refused, r)
		},
	}
	for _, dialect := range []egress.Dialect{egress.Anthropic, egress.OpenAI, egress.Gemini} {
		d.model.Makers = append(d.model.Makers, egress.Maker{Dialect: dialect, Base: address(tb, server), Key: realKey, Token: dummy})
	}
	if set != nil {
		set(d.model)
	}
	_, d.endTurn = d.model.Turn(tb.Context())
	host, stop := served(tb, d.model.Serve)
	d.url, d.stop = "http://"+host, stop
	return d
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func (d *testModel) told() []egress.Refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.refused)
}

// reply is an answer to a client.
type reply struct {
	*http.Response
	text string
	err  error // that cut it off
}

func (d *testModel) request(path, body string, headers ...string) *http.Request {
	d.Helper()
	r := must.Get(http.NewRequestWithContext(d.Context(), http.MethodPost, d.url+path, strings.NewReader(body)))(d)
	r.Header.Set("X-Api-Key", dummy)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return r
}

func (d *testModel) do(r *http.Request) reply {
	d.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return reply{response, string(text), err}
}

func (d *testModel) ask(path, body string, headers ...string) reply {
	d.Helper()
	return d.do(d.request(path, body, headers...))
}

// receiver is a server that records its requests.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
}

func newReceiver(tb testing.TB, answer http.HandlerFunc) *receiver {
	tb.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, request)
		r.mu.Unlock()
		_, _ = io.Copy(io.Discard, request.Body)
		if answer != nil {
			answer(w, request)
		}
	}))
	tb.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *receiver) hits() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

const (
	messages  = "/v1/messages"
	responses = "/v1/responses"
	chat      = "/v1/chat/completions"
	generate  = "/v1beta/models/big:generateContent"
	streamed  = "/v1beta/models/big:streamGenerateContent"
)

// Row 3: only the real server gets the key. A forwarded request is JSON and has only the query of its path, for any
// request of the client.
func TestKey(t *testing.T) {
	for path, want := range map[string]struct{ header, query string }{
		messages:                 {"X-Api-Key", ""},
		messages + "?beta=true":  {"X-Api-Key", "beta=true"},
		messages + "?beta=false": {"X-Api-Key", ""},
		responses:                {"Authorization", ""},
		chat:                     {"Authorization", ""},
		generate + "?alt=json":   {"X-Goog-Api-Key", ""},
		streamed + "?alt=sse":    {"X-Goog-Api-Key", "alt=sse"},
		streamed + "?alt=json":   {"X-Goog-Api-Key", "alt=sse"},
	} {
		server := newReceiver(t, nil)
		d := newTestModel(t, server.URL, nil)
		foreign := []string{
			"X-Api-Key: " + dummy, "Authorization: Bearer sk-theirs", "X-Goog-Api-Key: theirs", "Api-Key: theirs", "Cookie: a=theirs",
			"Proxy-Authorization: Basic theirs", "X-Forwarded-For: theirs", "Forwarded: for=theirs", "Via: theirs", "OpenAI-Organization: theirs",
			"OpenAI-Project: theirs", "X-OpenAI-Internal-Codex-Residency: theirs", "X-Goog-User-Project: theirs", "Chatgpt-Account-Id: theirs", "X-Http-Method-Override: DELETE", "X-Auth-Token: theirs",
			"X-Portkey-Custom-Host: theirs", "Helicone-Target-Url: theirs", "Cf-Aig-Custom-Cost: theirs", "X-Litellm-Tags: theirs", "Te: theirs",
			"Anthropic-Beta: effort-2099-01-01,made-up", "Anthropic-Version: v1", "X-Stainless-Lang: js", "User-Agent: cli", "Content-Type: text/plain",
		}
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		d.ask(path+separator+"key=theirs&access_token=theirs&%24alt=proto", `{"model":"big"}`, foreign...)
		hits := server.hits()
		if len(hits) != 1 {
			t.Fatalf("%s: %d requests arrived", path, len(hits))
		}
		got := hits[0]
		if key := strings.TrimPrefix(got.Header.Get(want.header), "Bearer "); key != realKey || len(got.Header[want.header]) != 1 {
			t.Errorf("%s: the key that arrived is %q", path, got.Header[want.header])
		}
		if got.URL.RawQuery != want.query || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s arrives as %s %v, want the query %q", path, got.URL, got.Header, want.query)
		}
		if all := fmt.Sprint(got.Header, got.URL, got.Host); strings.Contains(all, "theirs") || strings.Contains(all, dummy) || strings.Contains(all, "DELETE") {
			t.Errorf("%s: arrived as %s", path, all)
		}
		if got.Header.Get("Anthropic-Beta") != "effort-2099-01-01,made-up" || got.Header.Get("X-Stainless-Lang") != "js" || got.UserAgent() != "cli" {
			t.Errorf("%s: lost on the way: %v", path, got.Header)
		}
		if got.Header.Get("Accept-Encoding") != "identity" || got.Header.Get("X-Forwarded-For") != "" {
			t.Errorf("%s: asked for %v", path, got.Header)
		}
	}
}

// A program with the agent's token gets no answers after the agent's turn.
func TestTurnsEnd(t *testing.T) {
	server := newReceiver(t, nil)
	d := newTestModel(t, server.URL, nil)
	_, end := d.model.Turn(t.Context())
	for _, want := range []int{http.StatusOK, http.StatusForbidden, http.StatusOK} {
		if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != want {
			t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
		}
		if end(); want == http.StatusForbidden {
			d.model.Turn(t.Context())
		}
	}
	d.model.Turn(t.Context())
	body, late := io.Pipe()
	request := d.request(messages, "")
	request.Body, request.ContentLength = body, -1
	answer := make(chan reply)
	go func() { answer <- d.do(request) }()
	_, err := io.WriteString(late, `{"model":`)
	end() // before the body is complete
	_, failed := io.WriteString(late, `"big"}`)
	late.Close()
	if got := <-answer; errors.Join(err, failed) != nil || got.StatusCode != http.StatusForbidden {
		t.Errorf("a body that ends after the turn: answer %d, %v", got.StatusCode, errors.Join(err, failed))
	}
	if asked := len(server.hits()); asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
}

// The end of a turn cuts off open requests, also if the server does not notice that the client is gone (it has sent a
// byte of its next request), or if the client reads nothing.
func TestTheEndOfATurnEndsOpenRequests(t *testing.T) {
	arrived := make(chan bool, 1)
	for name, answer := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			arrived <- true
			<-r.Context().Done()
		},
		"an answer that is not read": func(w http.ResponseWriter, r *http.Request) {
			arrived <- true
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<16))
			}
		},
	} {
		d := newTestModel(t, newReceiver(t, answer).URL, nil)
		client := must.Get(net.Dial("tcp", strings.TrimPrefix(d.url, "http://")))(t)
		defer client.Close()
		const body = `{"model":"big","max_tokens":2000}`
		_, err := fmt.Fprintf(client, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s", messages, dummy, len(body), body)
		<-arrived
		_, failed := io.WriteString(client, "P") // of POST
		d.endTurn()
		if spent := d.model.Spent(); errors.Join(err, failed) != nil || spent.Usage.Input == 0 {
			t.Errorf("%s: used %+v, %v", name, spent, errors.Join(err, failed))
		}
	}
}

// only restricts the makers to these models.
func only(models ...string) func(*egress.Model) {
	return func(m *egress.Model) {
		for i := range m.Makers {
			m.Makers[i].Models = models
		}
	}
}

// Row 4: a request that is not allowed gets 403 in the words of its dialect, and
// does not reach the real server.
func TestRefusedByTheModel(t *testing.T) {
	server := newReceiver(t, nil)
	d := newTestModel(t, server.URL, only("big"))
	const fine = `{"model":"big"}`
	for _, test := range []struct {
		method, path, body string
		headers            []string
	}{
		{"GET", messages, "", nil},
		{"PUT", messages, fine, nil},
		{"GET", "/v1/models", "", nil},
		{"POST", "/v1/files", fine, nil},
		{"POST", "/v1/messages/batches", fine, nil},
		{"POST", "/v1/messages/../files", fine, nil},
		{"POST", "/v1beta/models/bigger:generateContent", `{}`, nil},
		{"POST", messages, `{"model":"bigger"}`, nil},
		{"POST", messages + "/count_tokens", `{"model":"bigger"}`, nil},
		{"POST", generate, `{"model":"models/bigger"}`, nil},
		{"POST", messages, `not JSON`, nil},
		{"POST", messages, fine, []string{"Content-Encoding: gzip"}},
		{"GET", responses, "", []string{"Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: eA=="}},
		{"POST", messages, fine, []string{"X-Api-Key: sk-theirs"}},
		{"POST", messages, fine, []string{"X-Api-Key: "}},
		{"POST", messages, fine, []string{"X-Api-Key: " + realKey}},
	} {
		r := d.request("", test.body, test.headers...)
		r.Method = test.method
		r.URL = address(t, d.url+test.path)
		got := d.do(r)
		if got.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, got.StatusCode, got.text)
		}
		if !json.Valid([]byte(got.text)) || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: the answer is %q", test.method, test.path, got.text)
		}
	}
	if hits := server.hits(); len(hits) > 0 {
		t.Errorf("the real server was asked %s %s", hits[0].Method, hits[0].URL)
	}
	if traffic := d.model.Traffic(); len(traffic) > 0 {
		t.Errorf("counted %+v", traffic)
	}
	if told := d.told(); len(told) == 0 || !slices.Contains(told, egress.Refusal{
		What: `model "bigger"`, Why: "it is not a model of this run", Input: "sandbox.allowModels: bigger",
	}) {
		t.Errorf("told %+v", told)
	}
}

// A refusal has the form of the dialect. Otherwise CLIs do not show it, or try
// again.
func TestRefusalInEachDialect(t *testing.T) {
	d := newTestModel(t, newReceiver(t, nil).URL, only("big"))
	for path, want := range map[string]string{
		messages:                               `{"error":{"message":"ralph: `,
		responses:                              `{"error":{"code":"refused_by_ralph","message":"ralph: `,
		"/v1beta/models/other:generateContent": `{"error":{"code":403,"message":"ralph: `,
	} {
		got := d.ask(path, `{"model":"other"}`)
		if !strings.HasPrefix(got.text, want) || got.Header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s: %s, %v", path, got.text, got.Header)
		}
	}
}

// A key that a server sends back does not reach the client: in a header, in early
// hints, in pieces of the body, or in a trailer.
func TestKeyIsNotSaidBack(t *testing.T) {
	server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+realKey+">")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("X-Your-Key", "it is "+realKey)
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Trailer", "X-Late")
		w.Header().Set("X-Fine", "yes")
		w.WriteHeader(http.StatusUnauthorized)
		for _, piece := range append(strings.Split("wrong key: "+realKey+".", ""), realKey, realKey[:5]) {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-Late", realKey)
		w.Header().Set(http.TrailerPrefix+"X-Later", realKey)
	})
	d := newTestModel(t, server.URL, nil)
	early := 0
	trace := &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error { early++; return nil }}
	request := d.request(messages, `{"model":"big"}`)
	got := d.do(request.WithContext(httptrace.WithClientTrace(t.Context(), trace)))
	if early > 0 {
		t.Errorf("%d hints came through unchecked", early)
	}
	if got.text != "wrong key: ***.***"+realKey[:5] || got.StatusCode != http.StatusUnauthorized || got.Header.Get("X-Fine") != "yes" {
		t.Errorf("answer %d %q", got.StatusCode, got.text)
	}
	if all := fmt.Sprint(got.Header, got.Trailer); strings.Contains(all, realKey) || strings.Contains(all, "Cookie") {
		t.Errorf("headers %s", all)
	}
}

// No way to print a Model shows a key.
func TestSecretIsNotPrinted(t *testing.T) {
	d := newTestModel(t, "http://127.0.0.1:1", nil)
	text := must.Get(json.Marshal(d.model.Makers))(t)
	all := fmt.Sprintf("%v %+v %#v %s %q %x", d.model.Makers, d.model.Makers, d.model.Makers, d.model.Makers[0].Token, d.model.Makers[0].Token, d.model.Makers[0].Token) + string(text)
	if strings.Contains(all, realKey) || strings.Contains(all, dummy) {
		t.Error(all)
	}
	if got := fmt.Sprint(d.model.Makers[0].Token); got != "***" {
		t.Errorf("a secret is printed as %q", got)
	}
}

// Two clients of one API can have different keys: each token is for its own maker. An API without a maker is refused.
// That of a maker in a cloud, such as Bedrock's, has a folder, a bearer token, and its own model names.
func TestMakersOfOneDialect(t *testing.T) {
	one, other, cloud := newReceiver(t, nil), newReceiver(t, nil), newReceiver(t, nil)
	const cloudModel = "anthropic.claude-opus-4-8"
	d := newTestModel(t, one.URL, func(m *egress.Model) {
		m.Makers = []egress.Maker{
			{Dialect: egress.OpenAI, Base: address(t, one.URL), Key: "key-one", Token: "first"},
			{Dialect: egress.OpenAI, Base: address(t, other.URL), Key: "key-other", Token: "second", Models: []string{"small"}},
			{
				Dialect: egress.Anthropic, Base: address(t, cloud.URL+"/anthropic"), Key: "key-cloud", Bearer: true, Token: "third",
				Models: []string{cloudModel},
			},
		}
	})
	for _, test := range []struct {
		token, model, path string
		status             int
	}{
		{"first", "big", chat, 200},
		{"second", "small", chat, 200},
		{"second", "big", chat, 403},
		{dummy, "big", chat, 403},
		{"", "big", chat, 403},
		{"first", "big", messages, 403},
		{"third", cloudModel, messages + "?beta=true", 200},
		{"third", "anthropic.claude-haiku-4-5", messages, 403},
	} {
		got := d.ask(test.path, `{"model":"`+test.model+`"}`, "X-Api-Key: ", "Authorization: Bearer "+test.token)
		if got.StatusCode != test.status {
			t.Errorf("with the token %q for %s: %d %s, want %d", test.token, test.model, got.StatusCode, got.text, test.status)
		}
	}
	for server, key := range map[*receiver]string{one: "key-one", other: "key-other", cloud: "key-cloud"} {
		if hits := server.hits(); len(hits) != 1 || hits[0].Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%s was asked %d times", key, len(hits))
		}
	}
	if got := cloud.hits()[0]; got.URL.Path != "/anthropic/v1/messages" || got.Header.Get("X-Api-Key") != "" {
		t.Errorf("the cloud was asked at %s with %v", got.URL, got.Header)
	}
}

// A server that is missing, redirects, or gives unexpected answers.
func TestServersThatDoNotAnswer(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	for name, test := range map[string]struct {
		answer http.HandlerFunc // nil: the error says the key
		status int
		why    string
	}{
		"gone": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, http.StatusBadGateway, "not reached"},
		"said": {nil, http.StatusBadGateway, "it is not reached: dial with *** failed"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/"+realKey, http.StatusTemporaryRedirect)
		}, http.StatusForbidden, "model-base-url"},
		"packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("Content-Encoding", "identity")
			w.Header().Add("Content-Encoding", "br")
			_, _ = io.WriteString(w, "x")
		}, http.StatusForbidden, "compresses"},
		"in another protocol": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Upgrade", "websocket")
			w.Header().Set("Connection", "Upgrade")
			w.WriteHeader(http.StatusSwitchingProtocols)
		}, http.StatusForbidden, "another protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestModel(t, newReceiver(t, test.answer).URL, func(m *egress.Model) {
				if test.answer == nil {
					m.Transport = transport(func(*http.Request) (*http.Response, error) {
						return nil, errors.New("dial with " + realKey + " failed")
					})
				}
			})
			got := d.ask(messages, `{"model":"big"}`)
			told := fmt.Sprint(d.told())
			if got.StatusCode != test.status || !strings.Contains(told, test.why) {
				t.Errorf("answer %d %s, told %s", got.StatusCode, got.text, told)
			}
			if all := got.text + told + fmt.Sprint(got.Header); strings.Contains(all, realKey) {
				t.Errorf("the key is in %s", all)
			}
		})
	}
	if len(elsewhere.hits()) > 0 {
		t.Error("the redirect was followed")
	}
}

// A refused key, and a server that is not reached, end the turn at once.
func TestUnansweredTurnsEnd(t *testing.T) {
	refuses := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"x","message":"no such key: `+realKey+`"}}`)
		}
	}
	dials := func(err error) transport {
		return func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
	}
	refused := errors.New("connection refused")
	for name, test := range map[string]struct {
		answer    http.HandlerFunc
		transport transport
		path      string
		want      stream.Result // the reason without the host; empty: the turn goes on
	}{
		"a refused key": {answer: refuses(401), want: stream.Result{
			Failed: true, Reason: "HOST refuses the key, status", Status: 401, Text: "no such key: ***",
		}},
		"a key that may not count": {answer: refuses(401), path: messages + "/count_tokens"},
		"a key without access":     {answer: refuses(403)},
		"an overloaded server":     {answer: refuses(529)},
		"an unknown host": {
			transport: dials(&net.DNSError{Err: "no such host", Name: "x.example", Server: "10.0.0.1:53"}),
			want:      stream.Result{Failed: true, Reason: "cannot reach HOST", Text: "no such host", Busy: true},
		},
		"a server that is down": {
			transport: dials(refused), want: stream.Result{Failed: true, Reason: "cannot reach HOST", Text: "connection refused", Busy: true},
		},
		"a proxy that is down": {
			transport: func(*http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "proxyconnect", Net: "tcp", Err: refused}
			},
			want: stream.Result{Failed: true, Reason: "cannot reach HOST", Text: "the company's proxy: connection refused", Busy: true},
		},
		"a connection that breaks": {
			transport: func(*http.Request) (*http.Response, error) {
				return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset")}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newReceiver(t, test.answer)
			d := newTestModel(t, server.URL, func(m *egress.Model) {
				if test.transport != nil {
					m.Transport = test.transport
				}
			})
			turn, end := d.model.Turn(t.Context())
			d.ask(cmp.Or(test.path, messages), `{"model":"big"}`)
			end()
			got := stream.Unanswered{}
			if unanswered, ok := errors.AsType[*stream.Unanswered](context.Cause(turn)); ok {
				got = *unanswered
			}
			test.want.Reason = strings.ReplaceAll(test.want.Reason, "HOST", strings.TrimPrefix(server.URL, "http://"))
			if got.Result != test.want {
				t.Errorf("the turn ends with %+v, want %+v", got.Result, test.want)
			}
			if ended := got != (stream.Unanswered{}); ended && len(d.told()) > 0 {
				t.Errorf("it is also reported as refused: %v", d.told())
			}
		})
	}
}

func TestBodiesThatAreNotTaken(t *testing.T) {
	server := newReceiver(t, nil)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Limits.Bytes = 1 << 10 })
	large := `{"model":"big","x":"` + strings.Repeat("x", 1<<10) + `"}`
	if got := d.ask(messages, large); got.StatusCode != http.StatusRequestEntityTooLarge || len(server.hits()) > 0 {
		t.Errorf("answer %d, %d hits", got.StatusCode, len(server.hits()))
	}
	request := d.request(messages, "")
	request.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"model":`), broken{}))
	request.ContentLength = -1
	if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
		response.Body.Close()
	}
	if len(server.hits()) > 0 {
		t.Error("half a request was passed on")
	}
}

// An incomplete request times out.
func TestSlowBody(t *testing.T) {
	server := newReceiver(t, nil)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Limits.Body = 50 * time.Millisecond })
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nX-Api-Key: %s\r\nContent-Length: 15\r\n\r\n{", messages, dummy)
	if answer := writeRaw(t, d, request); !strings.HasPrefix(answer, "HTTP/1.1 408 ") || len(server.hits()) > 0 {
		t.Errorf("answer %q, %d hits", answer, len(server.hits()))
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken off") }

// writeRaw writes a raw request to the model server, and returns everything that
// comes back until the server closes the connection.
func writeRaw(t *testing.T, d *testModel, request string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(d.url, "http://")))(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		return ""
	}
	text, _ := io.ReadAll(conn)
	return string(text)
}

// Requests that another parser may read differently are refused, or forwarded as
// the one request that was judged.
func TestOddRequests(t *testing.T) {
	const (
		key  = "X-Api-Key: " + dummy + "\r\n"
		body = `{"model":"big"}`
		rest = "Host: model\r\nConnection: close\r\n" + key
	)
	sized := rest + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	chunked := rest + "Transfer-Encoding: chunked\r\n"
	for name, test := range map[string]struct {
		request string
		arrives bool
	}{
		"as it should be":          {"POST /v1/messages HTTP/1.1\r\n" + sized, true},
		"another host":             {"POST /v1/messages HTTP/1.1\r\n" + strings.Replace(sized, "Host: model", "Host: evil.example", 1), true},
		"an absolute address":      {"POST http://evil.example/v1/messages HTTP/1.1\r\n" + sized, true},
		"a name and password":      {"POST http://a:b@evil.example/v1/messages HTTP/1.1\r\n" + sized, true},
		"two slashes":              {"POST //v1/messages HTTP/1.1\r\n" + sized, false},
		"an escaped slash":         {"POST /v1%2fmessages HTTP/1.1\r\n" + sized, false},
		"dots":                     {"POST /v1/files/../messages HTTP/1.1\r\n" + sized, false},
		"a null":                   {"POST /v1/messages%00 HTTP/1.1\r\n" + sized, false},
		"dots for a model":         {"POST /v1beta/models/..%2f..:generateContent HTTP/1.1\r\n" + sized, false},
		"a tunnel":                 {"CONNECT evil.example:443 HTTP/1.1\r\n" + rest + "\r\n", false},
		"HTTP/2 by an upgrade":     {"POST /v1/messages HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n" + strings.Replace(sized, "Connection: close", "Connection: Upgrade, close", 1), true},
		"HTTP/2 at once":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", false},
		"a large head":             {"POST /v1/messages HTTP/1.1\r\nX-A: " + strings.Repeat("a", 64<<10) + "\r\n" + sized, false},
		"two lengths":              {"POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\n" + sized, false},
		"two hosts":                {"POST /v1/messages HTTP/1.1\r\nHost: other\r\n" + sized, false},
		"a space before the colon": {"POST /v1/messages HTTP/1.1\r\nX-A : b\r\n" + sized, false},
		"another request within":   {"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + rest + "Content-Length: 60\r\n\r\n0\r\n\r\nPOST /v1/files HTTP/1.1\r\nHost: a\r\n\r\n", false},
		"pieces":                   {"POST /v1/messages HTTP/1.1\r\n" + chunked + fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body), true},
		"pieces and a trailer": {
			"POST /v1/messages HTTP/1.1\r\nTrailer: X-Portkey-Custom-Host\r\n" + chunked + fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\nX-Portkey-Custom-Host: evil.example\r\n\r\n", len(body), body), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newReceiver(t, nil)
			d := newTestModel(t, server.URL, nil)
			answer := writeRaw(t, d, test.request)
			hits := server.hits()
			if good := strings.HasPrefix(answer, "HTTP/1.1 200 "); len(hits) > 1 || (len(hits) == 1) != test.arrives || good != test.arrives {
				t.Errorf("%d requests arrived, and the answer is %.200q", len(hits), answer)
			}
			for _, hit := range hits {
				if hit.Header.Get("Upgrade") != "" {
					t.Error("the upgrade arrived")
				}
				if all := fmt.Sprint(hit.Method, hit.URL, hit.Host, hit.Header, hit.Trailer); strings.Contains(all, "evil") || !strings.HasPrefix(all, "POST/v1/messages127.0.0.1") ||
					hit.ContentLength != int64(len(body)) || len(hit.TransferEncoding) > 0 {
					t.Errorf("arrived as %s, %d bytes, %v", all, hit.ContentLength, hit.TransferEncoding)
				}
			}
		})
	}
}
