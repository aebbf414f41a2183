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

	"github.com/ralph-loop/ralph/internal/agent/modeltest"
	"github.com/ralph-loop/ralph/internal/egress"
)

// whole is a server's answer in one piece that used so many tokens of output, once
// it is told to.
func whole(arrived chan<- bool, release <-chan bool, output string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		arrived <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":`+output+`}}`)
	}
}

// crowded asks many at once, and tells when the last of them has said what it
// wants.
func crowded(t *testing.T, d *desk, many int, path, body string) (asked *sync.WaitGroup, answers chan int) {
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

// status is that of an answer; 0: there was none.
func status(request *http.Request) int {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// Answers in one piece cannot be cut: where all that are asked for could be more
// than what is left, they come one after the other, and not past the budget.
func TestWholeAnswersWaitTheirTurn(t *testing.T) {
	arrived, release := make(chan bool, 99), make(chan bool)
	server := newReceiver(t, whole(arrived, release, "2900"))
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 2500 })
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

// Those that fit beside each other do not wait, and nobody does without a budget.
func TestWholeAnswersThatFit(t *testing.T) {
	for name, budget := range map[string]egress.Budget{
		"in tokens": {Tokens: 100_000}, "in dollars": {USD: 1}, "none": {},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, release := make(chan bool, 99), make(chan bool)
			server := newReceiver(t, whole(arrived, release, "100"))
			d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget = budget })
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

// Who waits for a turn and goes away does not get one.
func TestWhoWaitsMayGo(t *testing.T) {
	arrived, release := make(chan bool, 99), make(chan bool)
	server := newReceiver(t, whole(arrived, release, "100"))
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 3000 })
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

// hangUp asks, waits for no answer, and for the server to have seen that.
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

// What a model may have thought without a word counts against the budget where
// nobody waited for the sum, and not further than the answer may go; it is told to nobody.
func TestHangingUpIsNoWayRoundTheBudget(t *testing.T) {
	for name, test := range map[string]struct {
		path, body string
		spent      bool
	}{
		"whole":              {responses, `{"model":"big"}`, true},
		"streamed":           {responses, `{"model":"big","stream":true}`, true},
		"no more than that":  {responses, `{"model":"big","max_output_tokens":4000}`, false},
		"messages":           {messages, `{"model":"big","max_tokens":4000}`, false},
		"another API's word": {messages, `{"model":"big","max_tokens":9000,"max_output_tokens":1,"generationConfig":{"maxOutputTokens":1}}`, true},
		"chat":               {chat, `{"model":"big","max_completion_tokens":4000}`, false},
		"chat, two words":    {chat, `{"model":"big","max_tokens":1,"max_completion_tokens":9000}`, true},
		"three versions":     {chat, `{"model":"big","max_tokens":2000,"n":3}`, true},
		"no number of them":  {chat, `{"model":"big","max_tokens":4000,"n":1}`, false},
		"gemini":             {streamed + "?alt=sse", `{"stream":0,"generationConfig":{"maxOutputTokens":4000}}`, false},
		"gemini's versions":  {streamed + "?alt=sse", `{"stream":0,"generationConfig":{"maxOutputTokens":2000,"candidateCount":3}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			var minutes atomic.Int64
			arrived := make(chan bool, 1)
			server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(test.body, "stream") {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "data: {}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				minutes.Store(1)
				arrived <- true
				<-r.Context().Done()
			})
			d := newDesk(t, server.URL, func(m *egress.Model) {
				m.Budget.Tokens = 7500
				m.Now = func() time.Time { return time.Unix(60*minutes.Load(), 0) }
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
				t.Errorf("after a minute the budget is spent: %q, want %v; %d tokens were told", sum.Stopped, test.spent, sum.Usage.Output)
			}
		})
	}
}

// A stream that would not tell what it used is asked to, or refused, where there
// is a budget.
func TestStreamsTell(t *testing.T) {
	for _, test := range []struct {
		body, want string
		budget     int64
	}{
		{` {"model":"big","stream":true}`, `{"stream_options":{"include_usage":true},"model":"big","stream":true}`, 9000},
		{`{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, `{"model":"big","stream":true,"stream_options":{"include_usage":true}}`, 9000},
		{`{"model":"big","stream":true,"stream_options":{"include_usage":false}}`, "", 9000},
		{`{"model":"big","stream":true,"stream_options":{}}`, "", 9000},
		{`{"model":"big"}`, `{"model":"big"}`, 9000},
		{`{"model":"big","stream":true}`, `{"model":"big","stream":true}`, 0},
		{`{"model":"big","stream":true,"stream_options":null}`, `{"stream_options":{"include_usage":true},"model":"big","stream":true}`, 9000},
		{`{"model":"big","stream":true,"stream_options":"yes"}`, "", 9000},
	} {
		server := modeltest.Start(t)
		d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = test.budget })
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

// A model without a price is no way to spend dollars that nobody counts.
func TestWhatHasNoPriceCountsAsTheDearest(t *testing.T) {
	server := modeltest.Start(t, modeltest.Answer{Words: "one"})
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.USD = 0.0001 })
	for _, want := range []int{http.StatusOK, http.StatusForbidden} {
		if got := d.ask(messages, `{"model":"claude-opus-nobody-knows"}`); got.StatusCode != want {
			t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
		}
	}
	if sum := d.model.Spent(); sum.Cost.Known {
		t.Errorf("its price is told: %+v", sum)
	}
}

// Requests that come all at once are sent side by side only as long as the most
// that all of them can cost fits: a body of 100 kB may be 100,000 tokens.
func TestManyAtOnceStayWithinTheBudget(t *testing.T) {
	var busy, most atomic.Int64
	release := make(chan bool)
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		now := busy.Add(1)
		defer busy.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		<-release
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, data(`{"type":"response.completed","response":{"usage":{"input_tokens":100000,"output_tokens":1000}}}`))
	})
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.USD = 0.45 })
	const many = 32
	asked, answers := crowded(t, d, many, responses, `{"model":"big","stream":true,"max_output_tokens":1000,"instructions":"`+strings.Repeat("x", 100_000)+`"}`)
	asked.Wait()
	close(release)
	refused := 0
	for range many {
		if <-answers == http.StatusForbidden {
			refused++
		}
	}
	// Each costs $0.11, and $0.214 at the most.
	if hits, sum := len(server.hits()), d.model.Spent(); hits != 4 || refused != many-hits || most.Load() > 2 || sum.Charged > 0.45 {
		t.Errorf("%d were sent, %d at once, %d refused, %+v", hits, most.Load(), refused, sum)
	}
}

// An answer that is under way holds no more than it can still cost: the rest is
// free once its maker has told its input.
func TestToldInputMakesRoom(t *testing.T) {
	release := make(chan bool)
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, begun)
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 10_000 })
	body := `{"model":"big","stream":true,"max_tokens":500,"system":"` + strings.Repeat("x", 5000) + `"}`
	for range 3 {
		response, err := http.DefaultTransport.RoundTrip(d.request(messages, body))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		defer response.Body.Close()
	}
	close(release)
}

// A request that is too large for what is left is not sent, and ends the budget.
func TestWhatIsTooLargeIsNotSent(t *testing.T) {
	server := uses(t, 900, 0)
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 1000 })
	if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != http.StatusOK {
		t.Fatalf("answer %d %s", got.StatusCode, got.text)
	}
	got := d.ask(messages, `{"model":"big","system":"`+strings.Repeat("x", 1000)+`"}`)
	const why = "900 of 1000 tokens used, and the next request is too large for the rest"
	if stopped := d.model.Spent().Stopped; got.StatusCode != http.StatusForbidden || len(server.hits()) != 1 || stopped != why {
		t.Errorf("answer %d, %d sent, %q", got.StatusCode, len(server.hits()), stopped)
	}
}

// What an answer that is cut off before its head was asked is charged: the model
// may have begun.
func TestWhatIsCutBeforeItsHeadIsCharged(t *testing.T) {
	arrived := make(chan bool)
	server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == responses {
			arrived <- true
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":1000000}}`)
	})
	d := newDesk(t, server.URL, func(m *egress.Model) {
		m.Budget.USD = 0.9
		m.Now = func() time.Time { return time.Unix(0, 0) }
	})
	body := `{"model":"big","store":false,"stream":true,"max_output_tokens":10,"instructions":"` + strings.Repeat("x", 5000) + `"}`
	cut := make(chan int)
	go func() { cut <- status(d.request(responses, body)) }()
	<-arrived
	d.ask(messages, `{"model":"big","max_tokens":10}`)
	if got := <-cut; got != http.StatusForbidden {
		t.Errorf("answer %d", got)
	}
	settled(t, d)
	sum, want := d.model.Spent(), int64(1_000_000+len(body)/5)
	if sum.Usage.Input != want || sum.Charged < sum.Cost.USD+0.005 {
		t.Errorf("%+v, want %d tokens of input, and more against the budget", sum, want)
	}
}

// What is no text is as large as it can be: its bytes do not show it.
func TestMedia(t *testing.T) {
	const image, other = 10_000, 1_000_000
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		want    int64
	}{
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`, image},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}]}]}]}`, other},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}},{"type":"search_result","source":"x"}]}]}`, 0},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"media_type":"image/png","data":"aGk="}}]}}]}]}`, image},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}]}`, 2 * image},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}`, image},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_file","file_data":"data:application/pdf;base64,aGk="}]}]}`, other},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}}]}]}`, other},
		{egress.Gemini, `{"model":"big","contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inline_data":{"mime_type":"video/mp4","data":"aGk="}}]}]}`, image + other},
	} {
		if got := egress.Media(test.dialect, test.body); got != test.want {
			t.Errorf("%s: Media(%s) = %d, want %d", test.dialect, test.body, got, test.want)
		}
	}
}
