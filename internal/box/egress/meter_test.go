package egress_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
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

// Answers pass unchanged, and are counted, in bytes too, and priced as they are billed.
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
			sent := d.model.Traffic()
			to := fmt.Sprintf("http://%s:%d", sent[0].Name.Host, sent[0].Name.Port)
			sent[0].Name = egress.Name{}
			traffic := egress.Traffic{Model: true, Tunnels: 1, Up: int64(len(server.Requests()[0].Body)), Down: int64(len(want))}
			if diff := cmp.Diff([]egress.Traffic{traffic}, sent); diff != "" || to != server.URL {
				t.Errorf("traffic with %s (-want +got):\n%s", to, diff)
			}
		})
	}
}

// settled waits until the Model has charged all requests.
func settled(t *testing.T, d *testModel) {
	t.Helper()
	must.Do(t, d.stop())
}

// A limit in dollars is impossible for a model without a known maximum price: with a
// name that is not like those on the price list.
func TestWhatHasNoPriceIsNotSent(t *testing.T) {
	for model, want := range map[string]int{"unknown-1": http.StatusForbidden, "free": http.StatusOK, "gpt-99": http.StatusOK} {
		server := modeltest.Start(t, modeltest.Answer{Words: "one"})
		d := newTestModel(t, server.URL, func(m *egress.Model) {
			m.Budget.USD, m.Prices = 1, map[string]price.Rate{"free": {}}
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

// uses returns a server whose answers use this many tokens.
func uses(t *testing.T, input, output int) *receiver {
	t.Helper()
	return newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"usage":{"input_tokens":%d,"output_tokens":%d}}`, input, output)
	})
}

// A model without a price counts as the most expensive one of its maker.
func TestWhatHasNoPriceCountsAsTheMost(t *testing.T) {
	d := newTestModel(t, uses(t, 1_000_000, 0).URL, func(m *egress.Model) { m.Budget.USD = 20 })
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		if got := d.ask(messages, `{"model":"claude-opus-99"}`); got.StatusCode != want {
			t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
		}
	}
	if got := d.model.Spent(); got.Cost != (stream.Cost{Most: 25}) || !got.Stopped {
		t.Errorf("spent %+v, want at most 25 dollars", got)
	}
}

// A budget is used when nothing of it is left. What an agent used at another server counts, too.
func TestBudgetIsUsedToItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		budget egress.Budget
		model  string // empty: big
		usd    float64
		tokens int64
		want   []int
	}{
		"tokens":            {budget: egress.Budget{Tokens: 1_000_000}, want: []int{200, 403}},
		"dollars":           {budget: egress.Budget{USD: 1}, want: []int{200, 403}},
		"dollars elsewhere": {budget: egress.Budget{USD: 2}, usd: 1, want: []int{200, 403}},
		"tokens elsewhere":  {budget: egress.Budget{Tokens: 9}, tokens: 9, want: []int{403}},
		"without a price":   {budget: egress.Budget{Tokens: 1_000_001}, model: "unknown-1", want: []int{200, 200, 403}},
		"no limit":          {usd: 99, tokens: 99, want: []int{200, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestModel(t, uses(t, 1_000_000, 0).URL, func(m *egress.Model) { m.Budget = test.budget })
			d.model.Charge(test.usd, test.tokens)
			model := "big"
			if test.model != "" {
				model = test.model
			}
			for _, want := range test.want {
				if got := d.ask(messages, `{"model":"`+model+`"}`); got.StatusCode != want {
					t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
				}
			}
			if known := d.model.Spent().Cost.Known; known && test.model != "" {
				t.Error("its cost is known")
			}
		})
	}
}

// whole returns a server that answers once the test lets it.
func whole(arrived chan<- bool, release <-chan bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		arrived <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":1}}`)
	}
}

// status returns the status of an answer; 0: none.
func status(request *http.Request) int {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// ask4 sends many requests at once, and returns once four have arrived.
func ask4(d *testModel, many int, arrived <-chan bool) (answers chan int) {
	d.Helper()
	answers = make(chan int, many)
	for range many {
		request := d.request(messages, `{"model":"big"}`)
		go func() { answers <- status(request) }()
	}
	for range 4 {
		<-arrived
	}
	return answers
}

// Four requests at most are in flight. These are answered when the budget is used, and no other one is sent.
func TestRequestsInFlight(t *testing.T) {
	const many = 32
	for name, test := range map[string]struct {
		tokens int64
		sent   int
	}{"all are sent": {0, many}, "the budget is used": {11, 4}} {
		t.Run(name, func(t *testing.T) {
			var open, most atomic.Int64
			arrived, release := make(chan bool, many), make(chan bool)
			answer := whole(arrived, release)
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				now := open.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				answer(w, r)
				open.Add(-1)
			})
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = test.tokens })
			answers := ask4(d, many, arrived)
			close(release)
			got := map[int]int{}
			for range many {
				got[<-answers]++
			}
			want := map[int]int{http.StatusOK: test.sent}
			if test.sent < many {
				want[http.StatusForbidden] = many - test.sent
			}
			settled(t, d)
			used := d.model.Spent().Usage.Tokens()
			if !maps.Equal(got, want) || len(server.hits()) != test.sent || most.Load() > 4 || used != 11*int64(test.sent) {
				t.Errorf("answers %v, want %v; %d were sent, %d at once, and used %d", got, want, len(server.hits()), most.Load(), used)
			}
		})
	}
}

// A request that waits is refused when the turn ends, or when its budget is used elsewhere. It is gone with its client.
func TestWaitingRequestsEnd(t *testing.T) {
	for name, end := range map[string]func(d *testModel, leave func()){
		"with the turn":   func(d *testModel, _ func()) { d.endTurn() },
		"with the budget": func(d *testModel, _ func()) { d.model.Charge(9, 0) },
		"with its client": func(_ *testModel, leave func()) { leave() },
	} {
		t.Run(name, func(t *testing.T) {
			arrived, release := make(chan bool, 9), make(chan bool)
			server := newReceiver(t, whole(arrived, release))
			defer close(release)
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.USD = 9 })
			ask4(d, 4, arrived)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			waiting := make(chan int)
			request := d.request(messages, `{"model":"big"}`).WithContext(ctx)
			request.Header.Set("Expect", "100-continue")
			read := make(chan bool)
			trace := &httptrace.ClientTrace{Got100Continue: func() { close(read) }}
			go func() { waiting <- status(request.WithContext(httptrace.WithClientTrace(ctx, trace))) }()
			<-read // it has passed all that comes before
			end(d, leave)
			want := http.StatusForbidden
			if name == "with its client" {
				want = 0
			}
			if got := <-waiting; got != want || len(server.hits()) != 4 {
				t.Errorf("answer %d, want %d; %d were sent", got, want, len(server.hits()))
			}
		})
	}
}

const begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":100,\"output_tokens\":1}}}\n\n"

var piece = data(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + strings.Repeat("words ", 250) + `"}}`)

// stalls returns a server that begins an answer, and goes on with it once the test lets it.
func stalls(first string, release <-chan bool, more string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if first != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, first)
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-release:
			_, _ = io.WriteString(w, more)
		case <-r.Context().Done():
		}
	}
}

// An answer that ralph cut off at the end of the turn counts as far as it came.
func TestCutAnswersCountAsFarAsTheyCame(t *testing.T) {
	words := `"` + strings.Repeat("word ", 300) + `"`
	picture := `{"type":"image","source":{"type":"base64","data":"` + strings.Repeat("aGk=", 2500) + `"}}`
	for name, test := range map[string]struct {
		path, body, first string
		want              stream.Usage // without the input: that of the body
	}{
		"with the input":      {messages, `{"model":"big"}`, begun + piece, stream.Usage{Input: 100, Output: 8}},
		"without the input":   {responses, `{"model":"big"}`, data(`{"type":"response.output_text.delta","delta":` + words + `}`), stream.Usage{Output: 7}},
		"counts on the way":   {streamed + "?alt=sse", `{}`, data(`{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":5}}`), stream.Usage{Input: 9, Output: 5}},
		"before it begins":    {messages, `{"model":"big","system":` + words + `}`, "", stream.Usage{}},
		"media are not words": {messages, `{"messages":[{"content":[` + picture + `]}],"model":"big"}`, "", stream.Usage{Input: 200 + 19}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newReceiver(t, stalls(test.first, nil, ""))
			d := newTestModel(t, server.URL, nil)
			answer := make(chan int)
			go func() { answer <- status(d.request(test.path, test.body)) }()
			for d.model.Spent().Usage.Output < test.want.Output || len(server.hits()) == 0 {
				runtime.Gosched()
			}
			d.endTurn()
			<-answer
			if test.want.Input == 0 {
				test.want.Input = int64(len(test.body)) / 5
			}
			if got := d.model.Spent().Usage; got != test.want {
				t.Errorf("used %+v, want %+v", got, test.want)
			}
		})
	}
}

// An answer whose client has left is read to its end, so that it counts as a whole. Not for ever.
func TestHangingUpIsCharged(t *testing.T) {
	for name, test := range map[string]struct {
		left time.Duration
		want stream.Usage
	}{
		"to its end": {time.Hour, stream.Usage{Input: 100, Output: 50}},
		"too long":   {time.Nanosecond, stream.Usage{Input: 100, Output: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan bool, 1)
			answered := make(chan bool)
			answer := stalls(begun+piece, release, data(msgEnd))
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				answer(w, r)
				close(answered)
			})
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Limits.Left = test.left })
			ctx, leave := context.WithCancel(t.Context())
			response, err := http.DefaultTransport.RoundTrip(d.request(messages, `{"model":"big","stream":true}`).WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			must.Get(io.ReadFull(response.Body, make([]byte, len(begun+piece))))(t)
			leave()
			if test.left == time.Hour {
				release <- true
			}
			<-answered
			for d.model.Spent().Usage != test.want {
				runtime.Gosched()
			}
			settled(t, d)
			if got := d.model.Spent().Usage; got != test.want {
				t.Errorf("used %+v, want %+v", got, test.want)
			}
		})
	}
}

// An agent that may reach every host invents names, each with an address. The hosts that are counted apart are few, and
// the others are counted together. Traffic is sorted by host, so that journals can be compared.
func TestTrafficOfManyHosts(t *testing.T) {
	for hosts, want := range map[int]int{1000: 1000, 5000: 1001} {
		var up int64
		all := egress.TrafficOf(hosts)
		for _, passed := range all {
			up += passed.Up
		}
		sorted := slices.IsSortedFunc(all, func(a, b egress.Traffic) int { return strings.Compare(a.Name.String(), b.Name.String()) })
		if !sorted || len(all) != want || up != int64(hosts) || (all[0].Name == egress.Name{}) != (hosts > 1000) {
			t.Errorf("%d hosts: %d counted with %d bytes, the first is %+v", hosts, len(all), up, all[0])
		}
	}
}

// Counting tokens costs nothing, and a refusal by the server neither.
func TestWhatCostsNothing(t *testing.T) {
	for path, status := range map[string]int{
		messages + "/count_tokens": http.StatusOK, "/v1beta/models/big:countTokens": http.StatusOK,
		messages: http.StatusTooManyRequests, responses: http.StatusBadRequest,
	} {
		var answers []modeltest.Answer
		if status != http.StatusOK {
			answers = []modeltest.Answer{{Status: status, Times: 2}}
		}
		d := newTestModel(t, modeltest.Start(t, answers...).URL, func(m *egress.Model) { m.Budget.Tokens = 1 })
		for range 2 {
			if got := d.ask(path, `{"model":"big","messages":[{"role":"user","content":"some words"}]}`); got.StatusCode != status {
				t.Errorf("%s: answer %d %s, want %d", path, got.StatusCode, got.text, status)
			}
		}
		settled(t, d)
		if sum := d.model.Spent(); sum.Usage != (stream.Usage{}) {
			t.Errorf("%s: used %+v", path, sum)
		}
	}
}
