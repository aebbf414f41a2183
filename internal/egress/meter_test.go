package egress_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// asks has the requests of each API, in one piece and streamed.
var asks = map[string]struct{ path, body string }{
	"anthropic":          {messages, `{"model":"big",` + anthropicTools + `}`},
	"anthropic streamed": {messages + "?beta=true", `{"model":"big","stream":true,` + anthropicTools + `}`},
	"responses":          {responses, `{"model":"big",` + responsesTools + `}`},
	"responses streamed": {responses, `{"model":"big","stream":true,` + responsesTools + `}`},
	"chat":               {chat, `{"model":"big",` + chatTools + `}`},
	"chat streamed":      {chat, `{"model":"big","stream":true,"stream_options":{"include_usage":true},` + chatTools + `}`},
	"gemini":             {generate, `{` + geminiTools + `}`},
	"gemini streamed":    {streamed + "?alt=sse", `{` + geminiTools + `}`},
}

// A model that is offered a tool to run commands answers by script.
const (
	anthropicTools = `"tools":[{"name":"Bash"}]`
	responsesTools = `"tools":[{"type":"function","name":"exec_command"}]`
	chatTools      = `"tools":[{"type":"function","function":{"name":"bash"}}]`
	geminiTools    = `"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]`
)

// Answers pass unchanged, and are counted and priced as they are billed.
func TestAnswersAreCounted(t *testing.T) {
	used := stream.Usage{Input: 1000, Output: 300, CacheRead: 500}
	answer := modeltest.Answer{
		Words: "I do it, and the key " + realKey[:9] + " is none.", Calls: []modeltest.Call{{Tool: "Bash", Input: map[string]string{"command": "ls"}}}, Usage: used,
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			server, twin := modeltest.Start(t, answer), modeltest.Start(t, answer)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, twin.URL+ask.path, strings.NewReader(ask.body))
			if err != nil {
				t.Fatal(err)
			}
			direct, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer direct.Body.Close()
			want, _ := io.ReadAll(direct.Body)
			d := newTestModel(t, server.URL, nil)
			got := d.ask(ask.path, ask.body)
			if diff := cmp.Diff(string(want), got.text); diff != "" || got.err != nil || got.Header.Get("Content-Type") != direct.Header.Get("Content-Type") {
				t.Errorf("%v, and not as it was sent (-want +got):\n%s", got.err, diff)
			}
			settled(t, d)
			if sum := d.model.Spent(); sum.Usage != used || !sum.Cost.Known || fmt.Sprintf("%.6f", sum.Cost.USD) != "0.004050" {
				t.Errorf("used %+v", sum)
			}
		})
	}
}

// settled waits until the Model has charged all requests.
func settled(t *testing.T, d *testModel) {
	t.Helper()
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
}

// A limit in dollars is impossible for a model without a known maximum price: with a
// name that is not like those on the price list, also at a maker's own server.
func TestWhatHasNoPriceIsNotSent(t *testing.T) {
	for model, want := range map[string]int{"unknown-1": http.StatusForbidden, "free": http.StatusOK, "gpt-99": http.StatusOK} {
		server := modeltest.Start(t, modeltest.Answer{Words: "one"})
		d := newTestModel(t, server.URL, func(m *egress.Model) {
			m.Budget.USD, m.Prices = 1, map[string]price.Rate{"free": {}}
			asMakers(m, server.URL)
		})
		for path, status := range map[string]int{responses: want, messages + "/count_tokens": http.StatusOK} {
			got := d.ask(path, `{"model":"`+model+`"}`)
			if got.StatusCode != status || status == http.StatusForbidden && !strings.Contains(got.text, "agent.prices") {
				t.Errorf("%s for %s: answer %d %s, want %d", path, model, got.StatusCode, got.text, status)
			}
		}
		sent := slices.ContainsFunc(server.Requests(), func(r modeltest.Request) bool { return r.Path == responses })
		if refused := len(d.told()) == 1; sent == refused || refused != (want == http.StatusForbidden) {
			t.Errorf("%s: sent %v, and refused %v", model, sent, d.told())
		}
	}
}

// Some servers also take a model's name behind models/. It costs what the settings say.
func TestPriceOfANameInAFolder(t *testing.T) {
	d := newTestModel(t, uses(t, 1_000_000, 0).URL, nil)
	d.ask(messages, `{"model":"models/big"}`)
	settled(t, d)
	if got := d.model.Spent(); got.Charged != 1 || got.Cost != (stream.Cost{USD: 1, Known: true}) {
		t.Errorf("spent %+v, want 1 dollar", got)
	}
}

// The maker's own server is found by its host.
func TestIsOwn(t *testing.T) {
	for base, want := range map[string]bool{
		"": true, "https://api.openai.com/v1": true, "https://API.openai.com": true, "https://api.openai.com:443/v1": true,
		"https://gateway.example/v1": false, "https://api.openai.com.evil.example": false,
	} {
		maker := egress.Maker{Dialect: egress.OpenAI}
		if base != "" {
			maker.Base = address(t, base)
		}
		if got := egress.IsOwn(maker); got != want {
			t.Errorf("%q: %v, want %v", base, got, want)
		}
	}
}

func TestWhatHasNoPriceCountsInTokens(t *testing.T) {
	server := modeltest.Start(t, modeltest.Answer{Words: "one"}, modeltest.Answer{Words: "two"})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 2000 })
	for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusForbidden} {
		if got := d.ask(messages, `{"model":"unknown-1"}`); got.StatusCode != want {
			t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
		}
	}
	if sum := d.model.Spent(); sum.Cost.Known || sum.Usage.Tokens() != 2*modeltest.Usual.Tokens() {
		t.Errorf("used %+v", sum)
	}
}

// Counting tokens costs nothing.
func TestFree(t *testing.T) {
	server := modeltest.Start(t)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 1 })
	for _, path := range []string{messages + "/count_tokens", "/v1beta/models/big:countTokens", messages + "/count_tokens"} {
		if got := d.ask(path, `{"model":"big"}`); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.text)
		}
	}
	if sum := d.model.Spent(); sum.Usage != (stream.Usage{}) {
		t.Errorf("used %+v", sum)
	}
}

// endless streams until its client leaves, or next ends it.
func endless(first, more string, gone chan<- string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		line := first
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, line); err != nil {
				break
			}
			_ = http.NewResponseController(w).Flush()
			line = more
		}
		gone <- r.URL.Path
	}
}

const (
	begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n"
	piece = "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"some words of the model, again and again\"}}\n\n"
)

// Row 4: a stream that uses the rest of the budget is cut off, with all other
// streams. Later requests are refused and do not reach the server.
func TestBudgetCutsStreams(t *testing.T) {
	for name, test := range map[string]struct{ path, body, first, more string }{
		"anthropic":                 {messages, `{"model":"big","stream":true}`, begun, piece},
		"anthropic, behind its end": {messages, `{"model":"big","stream":true}`, begun + data(msgEnd, `{"type":"message_stop"}`), piece},
		"anthropic, told": {
			messages, `{"model":"big","stream":true}`, begun,
			"data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":5000}}\n\n",
		},
		"responses": {responses, `{"model":"big","stream":true}`, "", "data: {\"type\":\"response.output_text.delta\",\"delta\":\"some words of the model\"}\n\n"},
		"chat":      {chat, `{"model":"big","stream":true}`, "", "data: {\"choices\":[{\"delta\":{\"content\":\"some words of the model\"}}]}\n\n"},
		"gemini that does not tell": {
			streamed + "?alt=sse", `{}`, "", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"some words of the model\"}],\"role\":\"model\"}}]}\n\n",
		},
		"gemini": {streamed + "?alt=sse", `{}`, "", "data: {\"candidates\":[{}],\"usageMetadata\":{\"promptTokenCount\":1,\"candidatesTokenCount\":5000}}\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan string, 8)
			server := newReceiver(t, endless(test.first, test.more, gone))
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 5000 })
			got := d.ask(test.path, test.body)
			if got.StatusCode != http.StatusOK || got.err == nil || d.model.Spent().Stopped == "" {
				t.Errorf("answer %d, ended with %v", got.StatusCode, got.err)
			}
			<-gone // the server was hung up on
			hits := len(server.hits())
			for other, ask := range asks {
				after := d.ask(ask.path, ask.body)
				if after.StatusCode != http.StatusForbidden || !strings.Contains(after.text, "budget") || after.Header.Get("X-Should-Retry") != "false" {
					t.Errorf("then %s: %d %s", other, after.StatusCode, after.text)
				}
			}
			if len(server.hits()) != hits {
				t.Error("the server was asked once more")
			}
		})
	}
}

// All open requests end with the budget, not only the one that used it up.
func TestBudgetCutsTheOthers(t *testing.T) {
	release, arrived, gone := make(chan bool), make(chan bool), make(chan string, 2)
	server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == messages {
			arrived <- true
			<-release
			endless(begun, piece, gone)(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- r.URL.Path
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 9000 })
	quiet, err := http.DefaultTransport.RoundTrip(d.request(responses, `{"model":"big","stream":true,"max_output_tokens":100}`))
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Body.Close()
	spender := make(chan reply, 1)
	go func() { spender <- d.ask(messages, `{"model":"big","stream":true,"max_tokens":1000}`) }()
	<-arrived
	close(release)
	if got := <-spender; got.err == nil {
		t.Error("the spender was not cut")
	}
	if _, err := io.ReadAll(quiet.Body); err == nil {
		t.Error("the quiet one was not cut")
	}
	for range 2 {
		<-gone
	}
}

// A complete answer is paid for: its end is not cut off, even if the budget is
// used.
func TestWholeAnswersPass(t *testing.T) {
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start(t, modeltest.Answer{Words: "all of it", Usage: stream.Usage{Input: 10, Output: 10}})
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.USD = 0.00005 })
			if got := d.ask(ask.path, ask.body); got.err != nil || got.StatusCode != http.StatusOK {
				t.Errorf("answer %d %q, %v", got.StatusCode, got.text, got.err)
			}
			if got := d.ask(ask.path, ask.body); got.StatusCode != http.StatusForbidden || len(server.Requests()) != 1 {
				t.Errorf("then %d, and %d arrived", got.StatusCode, len(server.Requests()))
			}
		})
	}
}

// Closing the connection before the usage is reported saves no budget.
func TestHangingUpIsCharged(t *testing.T) {
	body := `{"model":"big","store":false,"stream":true,"user":"` + strings.Repeat("words ", 500) + `"}`
	for name, answer := range map[string]http.HandlerFunc{
		"in a stream": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\""+strings.Repeat("word ", 300)+"\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"before it begins": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"as the server does": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			arrived := make(chan bool, 1)
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) { arrived <- true; answer(w, r) })
			d := newTestModel(t, server.URL, nil)
			request := d.request(responses, body)
			ctx, cancel := context.WithCancel(t.Context())
			heard := make(chan bool)
			go func() {
				defer close(heard)
				response, err := http.DefaultTransport.RoundTrip(request.WithContext(ctx))
				if err != nil {
					return
				}
				defer response.Body.Close()
				_, _ = response.Body.Read(make([]byte, 1<<16))
				cancel()
			}()
			<-arrived
			defer cancel()
			if name == "before it begins" {
				cancel()
			}
			<-heard
			settled(t, d)
			if used := d.model.Spent().Usage; used.Input != int64(len(body))/5 || name == "in a stream" && used.Output != 300 {
				t.Errorf("used %+v, for %d bytes", used, len(body))
			}
		})
	}
}

// An answer in several versions has ended with the last of them: a client that leaves after the first pays for all.
func TestHangingUpOnOtherVersionsIsCharged(t *testing.T) {
	end := func(version int) string {
		return data(fmt.Sprintf(`{"candidates":[{"index":%d,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5}}`, version))
	}
	for name, test := range map[string]struct {
		many    int
		told    string
		charged float64
	}{
		"the only one":        {1, end(0), 5},
		"one of three":        {3, end(1), 3 * 1000},
		"one of three, twice": {3, end(1) + end(1), 3 * 1000},
		"all three":           {3, end(1) + end(0) + end(2), 5},
	} {
		t.Run(name, func(t *testing.T) {
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, test.told)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
			var seconds atomic.Int64
			d := newTestModel(t, server.URL, func(m *egress.Model) {
				m.Prices = map[string]price.Rate{"big": {Output: 1e6}} // a dollar for each token
				m.Budget.USD = 10_000
				m.Now = func() time.Time { return time.Unix(2*seconds.Add(1), 0) }
			})
			body := fmt.Sprintf(`{"generationConfig":{"candidateCount":%d,"maxOutputTokens":1000}}`, test.many)
			response, err := http.DefaultTransport.RoundTrip(d.request(streamed+"?alt=sse", body))
			if err != nil {
				t.Fatal(err)
			}
			_, err = io.ReadFull(response.Body, make([]byte, len(test.told)))
			response.Body.Close()
			settled(t, d)
			if got := d.model.Spent().Charged; err != nil || got != test.charged {
				t.Errorf("%v, charged %v, want %v", err, got, test.charged)
			}
		})
	}
}

// An answer that does not come to its end, or not at all, counts what the model may have thought
// since. Otherwise an agent that makes servers or gateways break off would pay for no answer.
func TestServersBreakingOffIsCharged(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, begun)
		_ = http.NewResponseController(w).Flush()
	}
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		charged float64 // by the makers themselves; other servers may write the whole answer
	}{
		"a reset in a stream":           {func(w http.ResponseWriter, _ *http.Request) { begin(w); panic(http.ErrAbortHandler) }, 2 * 1000},
		"an end without the last count": {func(w http.ResponseWriter, _ *http.Request) { begin(w) }, 2 * 1000},
		"a reset before the head":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2 * 1000},
		"a packed answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			begin(w)
		}, 2 * 1000},
		"a gateway's timeout": {status(http.StatusGatewayTimeout), 2 * 1000},
		"an overload":         {status(http.StatusServiceUnavailable), 0},
		"a redirect":          {status(http.StatusFound), 0},
	} {
		for _, own := range []bool{true, false} {
			server := newReceiver(t, test.answer)
			var seconds atomic.Int64
			d := newTestModel(t, server.URL, func(m *egress.Model) {
				m.Prices = map[string]price.Rate{"big": {Output: 1e6}} // a dollar for each token
				m.Budget.USD = 10_000
				m.Now = func() time.Time { return time.Unix(2*seconds.Add(1), 0) }
				if own {
					asMakers(m, server.URL)
				}
			})
			d.ask(messages, `{"model":"big","stream":true,"max_tokens":9000}`)
			settled(t, d)
			want := test.charged
			if want > 0 && !own {
				want = 9000
			}
			if got := d.model.Spent().Charged; got != want {
				t.Errorf("%s, at the maker's own server %v: charged %v, want %v", name, own, got, want)
			}
		}
	}
}

// A refusal by the server costs nothing, but a gateway may bill what it refuses for its content.
func TestErrorsCostNothing(t *testing.T) {
	for status, charged := range map[int]bool{http.StatusTooManyRequests: false, http.StatusBadRequest: true} {
		server := modeltest.Start(t, modeltest.Answer{Status: status, Times: 2})
		d := newTestModel(t, server.URL, nil)
		if got := d.ask(messages, `{"model":"big","messages":[{"role":"user","content":"some words"}]}`); got.StatusCode != status {
			t.Errorf("answer %d %s", got.StatusCode, got.text)
		}
		settled(t, d)
		if sum := d.model.Spent(); (sum.Usage.Input > 0) != charged || sum.Usage.Output != 0 {
			t.Errorf("%d: used %+v", status, sum)
		}
	}
}

// Spent includes answers that have not ended.
func TestToldDuringAStream(t *testing.T) {
	gone := make(chan string, 1)
	server := newReceiver(t, endless(begun, piece, gone))
	d := newTestModel(t, server.URL, nil)
	response, err := http.DefaultTransport.RoundTrip(d.request(messages, `{"model":"big","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(response.Body, make([]byte, len(begun)))
	if sum := d.model.Spent(); err != nil || sum.Usage.Input != 100 || !sum.Cost.Known {
		t.Errorf("used %+v, %v", sum, err)
	}
	response.Body.Close()
	<-gone
}

// The end of an answer passes, even long after the count that used the rest of
// the budget.
func TestEndAfterTheLastCount(t *testing.T) {
	release := make(chan bool)
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, begun+data(msgEnd))
		_ = http.NewResponseController(w).Flush()
		<-release
		_, _ = io.WriteString(w, data(`{"type":"message_stop"}`))
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 120 })
	response, err := http.DefaultTransport.RoundTrip(d.request(messages, `{"model":"big","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, len(begun+data(msgEnd)))); err != nil || d.model.Spent().Stopped == "" {
		t.Fatalf("%v, exhausted %v", err, d.model.Spent().Stopped)
	}
	close(release)
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != data(`{"type":"message_stop"}`) {
		t.Errorf("the rest is %q, %v", rest, err)
	}
}
