package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// whole returns a server whose complete answer uses this many output tokens, once
// the test lets it answer.
func whole(arrived chan<- bool, release <-chan bool, output string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		arrived <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":`+output+`}}`)
	}
}

// crowded sends many requests at once, and reports when the last one has reached
// the Model.
func crowded(t *testing.T, d *testModel, many int, path, body string) (asked *sync.WaitGroup, answers chan int) {
	t.Helper()
	asked, answers = new(sync.WaitGroup), make(chan int, many)
	for range many {
		asked.Add(1)
		said := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { asked.Done() }}
		request := d.request(path, body)
		request = request.WithContext(httptrace.WithClientTrace(request.Context(), said))
		go func() { answers <- status(request) }()
	}
	return asked, answers
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

// Complete answers cannot be cut off: if all requests together may exceed the
// budget, they are sent one after the other, and not beyond the budget.
func TestWholeAnswersWaitTheirTurn(t *testing.T) {
	arrived, release := make(chan bool, 99), make(chan bool)
	server := newReceiver(t, whole(arrived, release, "2900"))
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 2500 })
	const many = 8
	asked, answers := crowded(t, d, many, messages, `{"model":"big","max_tokens":2000}`)
	<-arrived
	asked.Wait()
	close(release)
	refused := 0
	for range many {
		if <-answers == http.StatusForbidden {
			refused++
		}
	}
	if hits := len(server.hits()); hits != 1 || refused != many-1 {
		t.Errorf("%d were answered, and %d refused", hits, refused)
	}
}

// Requests that fit together do not wait, nor do requests without a budget.
func TestWholeAnswersThatFit(t *testing.T) {
	for name, budget := range map[string]egress.Budget{
		"in tokens": {Tokens: 100_000}, "in dollars": {USD: 1}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, release := make(chan bool, 99), make(chan bool)
			server := newReceiver(t, whole(arrived, release, "100"))
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget = budget })
			_, answers := crowded(t, d, 3, messages, `{"model":"big","max_tokens":2000}`)
			for range 3 {
				<-arrived
			}
			close(release)
			for range 3 {
				if got := <-answers; got != http.StatusOK {
					t.Errorf("answer %d", got)
				}
			}
		})
	}
}

// A client that leaves while it waits gets no turn.
func TestARequestCanLeaveTheQueue(t *testing.T) {
	arrived, release := make(chan bool, 99), make(chan bool)
	server := newReceiver(t, whole(arrived, release, "100"))
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 3000 })
	_, answers := crowded(t, d, 1, messages, `{"model":"big","max_tokens":2000}`)
	<-arrived
	hangUp(t, d.request(messages, `{"model":"big","max_tokens":2000}`))
	close(release)
	if got := <-answers; got != http.StatusOK {
		t.Errorf("answer %d to the first", got)
	}
	settled(t, d)
	if hits := len(server.hits()); hits != 1 {
		t.Errorf("%d arrived", hits)
	}
}

// hangUp sends a request and leaves, and waits until the server has seen that.
func hangUp(t *testing.T, request *http.Request) {
	t.Helper()
	line, err := (&net.Dialer{}).DialContext(request.Context(), "tcp", request.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	if err := errors.Join(request.Write(line), line.(*net.TCPConn).CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, line); err != nil {
		t.Fatal(err)
	}
}

// Possible hidden thinking counts against the budget if the client leaves before
// the usage is reported, up to the limit of the answer. The shown cost does not
// include it.
func TestHangingUpIsNoWayRoundTheBudget(t *testing.T) {
	for name, test := range map[string]struct {
		path, body string
		after      time.Duration
		spent      bool
	}{
		"whole":              {responses, `{"model":"big"}`, time.Minute, true},
		"streamed":           {responses, `{"model":"big","stream":true}`, time.Minute, true},
		"no more than that":  {responses, `{"model":"big","max_output_tokens":4000}`, time.Minute, false},
		"messages":           {messages, `{"model":"big","max_tokens":4000}`, time.Minute, false},
		"another API's word": {messages, `{"model":"big","max_tokens":9000,"max_output_tokens":1,"generationConfig":{"maxOutputTokens":1}}`, time.Minute, true},
		"chat":               {chat, `{"model":"big","max_completion_tokens":4000}`, time.Minute, false},
		"chat, two words":    {chat, `{"model":"big","max_tokens":1,"max_completion_tokens":9000}`, time.Minute, true},
		"chat, one is text":  {chat, `{"model":"big","max_tokens":"128000","max_completion_tokens":5}`, time.Minute, true},
		"chat, one is -1":    {chat, `{"model":"big","max_tokens":-1,"max_completion_tokens":5}`, time.Minute, true},
		"chat, one is 1e3":   {chat, `{"model":"big","max_tokens":1e3,"max_completion_tokens":5}`, time.Minute, true},
		"chat, one is null":  {chat, `{"model":"big","max_tokens":null,"max_completion_tokens":5}`, time.Minute, false},
		"no number of them":  {chat, `{"model":"big","max_tokens":4000,"n":1}`, time.Minute, false},
		"gemini":             {streamed + "?alt=sse", `{"stream":0,"generationConfig":{"maxOutputTokens":4000}}`, time.Minute, false},
		"whole, at once":     {messages, `{"model":"big","max_tokens":9000}`, 0, true},
		"streamed, at once":  {messages, `{"model":"big","max_tokens":9000,"stream":true}`, 0, false},
		"gemini, at once":    {streamed + "?alt=sse", `{"stream":0,"generationConfig":{"maxOutputTokens":9000}}`, 0, true},
		"compact, at once":   {responses + "/compact", `{"model":"big","stream":true}`, 0, true},
		"compact, a limit":   {responses + "/compact", `{"model":"big","max_output_tokens":16}`, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var passed atomic.Int64
			arrived := make(chan bool, 1)
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(test.body, "stream") {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "data: {}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				passed.Store(int64(test.after))
				arrived <- true
				<-r.Context().Done()
			})
			d := newTestModel(t, server.URL, func(m *egress.Model) {
				m.Budget.Tokens = 7500
				m.Now = func() time.Time { return time.Unix(0, passed.Load()) }
				asMakers(m, server.URL)
			})
			ctx, cancel := context.WithCancel(t.Context())
			request, ended := d.request(test.path, test.body), make(chan bool)
			go func() {
				defer close(ended)
				status(request.WithContext(ctx))
			}()
			<-arrived
			cancel()
			<-ended
			settled(t, d)
			if sum := d.model.Spent(); (sum.Stopped != "") != test.spent || sum.Usage.Output != 0 {
				t.Errorf("the budget is spent: %q, want %v; %d tokens were told", sum.Stopped, test.spent, sum.Usage.Output)
			}
		})
	}
}

// Several versions of an answer are sent only if all of them fit: one request could otherwise cost many times the rest.
func TestVersionsHaveToFit(t *testing.T) {
	for body, want := range map[string]int{
		`{"model":"big","max_tokens":9000,"n":1}`: http.StatusOK,
		`{"model":"big","max_tokens":1000,"n":3}`: http.StatusOK,
		`{"model":"big","max_tokens":3000,"n":3}`: http.StatusForbidden,
	} {
		server := newReceiver(t, nil)
		d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 7500 })
		if got := d.ask(chat, body); got.StatusCode != want {
			t.Errorf("%s: answer %d %s, want %d", body, got.StatusCode, got.text, want)
		}
	}
}

// A complete answer without its usage counts as much as one that was cut off.
func TestAnswersThatTellNothingCount(t *testing.T) {
	for body, spent := range map[string]bool{
		`{"model":"big"}`: true, `{"model":"big","max_output_tokens":4000}`: false, `{"model":"big","stream":true}`: true, `{"model":"big","stream":true,"max_output_tokens":4000}`: false,
	} {
		var passed atomic.Int64
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			passed.Store(int64(time.Minute))
			if strings.Contains(body, "stream") {
				w.Header().Set("Content-Type", "text/event-stream")
			}
			_, _ = io.WriteString(w, "data: {}\n\n")
		})
		d := newTestModel(t, server.URL, func(m *egress.Model) {
			m.Budget.Tokens = 7500
			m.Now = func() time.Time { return time.Unix(0, passed.Load()) }
		})
		d.ask(responses, body)
		settled(t, d)
		if sum := d.model.Spent(); (sum.Stopped != "") != spent {
			t.Errorf("%s: the budget is spent: %q, want %v", body, sum.Stopped, spent)
		}
	}
}

// With a budget, a stream that would not report its usage is asked to do so, or
// refused.
func TestStreamsTell(t *testing.T) {
	for _, test := range []struct {
		body, want string
		budget     int64
	}{
		{` {"model":"big","stream":true}`, `{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, 9000},
		{`{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, `{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, 9000},
		{`{"model":"big","stream":true,"stream_options":{"include_usage":false}}`, "", 9000},
		{`{"model":"big","stream":true,"stream_options":{}}`, "", 9000},
		{`{"model":"big"}`, `{"model":"big"}`, 9000},
		{`{"model":"big","stream":true}`, `{"model":"big","stream":true}`, 0},
		{`{"model":"big","stream":true,"stream_options":null}`, `{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, 9000},
		{`{"model":"big","stream":true,"stream_options":"yes"}`, "", 9000},
	} {
		server := modeltest.Start(t)
		d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = test.budget })
		got := d.ask(chat, test.body)
		arrived := ""
		for _, request := range server.Requests() {
			arrived += request.Body
		}
		if arrived != test.want || (got.StatusCode == http.StatusForbidden) != (test.want == "") {
			t.Errorf("%s: answer %d, arrived as %s", test.body, got.StatusCode, arrived)
		}
	}
}

// A model without a price cannot be used to spend uncounted dollars.
func TestWhatHasNoPriceCountsAsTheDearest(t *testing.T) {
	server := modeltest.Start(t, modeltest.Answer{Words: "one"})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.USD = 0.001 })
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		if got := d.ask(messages, `{"model":"claude-opus-unknown"}`); got.StatusCode != want {
			t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
		}
	}
	if sum := d.model.Spent(); sum.Cost.Known {
		t.Errorf("its price is told: %+v", sum)
	}
}
