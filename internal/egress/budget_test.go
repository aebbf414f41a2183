package egress_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// uses returns a server whose answers use this many tokens.
func uses(t *testing.T, input, output int) *receiver {
	t.Helper()
	return newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"usage":{"input_tokens":%d,"output_tokens":%d}}`, input, output)
	})
}

// The use of an answer is reported when it has ended, even if it is small.
func TestLittleIsToldAtTheEnd(t *testing.T) {
	d := newTestModel(t, uses(t, 20, 10).URL, nil)
	d.ask(messages, `{"model":"big"}`)
	settled(t, d)
	if got, want := d.model.Spent().Usage, (stream.Usage{Input: 20, Output: 10}); got != want {
		t.Errorf("told %+v, want %+v", got, want)
	}
}

// A budget is used when nothing of it is left.
func TestBudgetIsUsedToItsEnd(t *testing.T) {
	for name, budget := range map[string]egress.Budget{"tokens": {Tokens: 1_000_000}, "dollars": {USD: 1}} {
		t.Run(name, func(t *testing.T) {
			d := newTestModel(t, uses(t, 1_000_000, 0).URL, func(m *egress.Model) { m.Budget = budget })
			for _, want := range []int{http.StatusOK, http.StatusForbidden} {
				if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != want {
					t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
				}
			}
		})
	}
}

// A request that was admitted before the budget was used is cut off before it
// reaches the server.
func TestBudgetThatIsUsedMeanwhile(t *testing.T) {
	const body = `{"model":"big"}`
	server := uses(t, 100, 0)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 100 })
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	answers := bufio.NewReader(conn)
	// 100 Continue comes when the body is read for, past the question whether
	// anything is left.
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: model\r\nX-Api-Key: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", messages, dummy, len(body))
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("answer %q, %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	if got := d.ask(messages, body); got.StatusCode != http.StatusOK {
		t.Fatalf("answer %d %s", got.StatusCode, got.text)
	}
	_, _ = io.WriteString(conn, body)
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if hits := len(server.hits()); answer.StatusCode != http.StatusForbidden || hits != 1 {
		t.Errorf("answer %d after %d requests, want 403 after one", answer.StatusCode, hits)
	}
}

// Simultaneous requests run in parallel only while the maximum cost of all fits
// into the budget: a body of 100 kB may be 100,000 tokens.
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
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.USD = 0.45 })
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

// An open request holds only what it can still cost: the rest is free once the
// maker has reported its input.
func TestToldInputMakesRoom(t *testing.T) {
	release := make(chan bool)
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, begun)
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 10_000 })
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

// A request that is too large for the rest of the budget is not sent, and ends the budget.
func TestWhatIsTooLargeIsNotSent(t *testing.T) {
	server := uses(t, 900, 0)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 1000 })
	if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != http.StatusOK {
		t.Fatalf("answer %d %s", got.StatusCode, got.text)
	}
	got := d.ask(messages, `{"model":"big","system":"`+strings.Repeat("x", 1000)+`"}`)
	const why = "900 of 1000 tokens used, and the next request is too large for the rest"
	if stopped := d.model.Spent().Stopped; got.StatusCode != http.StatusForbidden || len(server.hits()) != 1 || stopped != why {
		t.Errorf("answer %d, %d sent, %q", got.StatusCode, len(server.hits()), stopped)
	}
}

// An answer that is cut off before its header is charged for its input: the model
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
	d := newTestModel(t, server.URL, func(m *egress.Model) {
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

// Media count as large as they can be: their bytes do not show their tokens.
func TestMedia(t *testing.T) {
	const claudeImage, image, other = 10_000, 75_000, 1_000_000
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		size    int64
		most    int64
	}{
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`, 4, claudeImage},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}]}]}]}`, 4, other},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}},{"type":"search_result","source":"x"}]}]}`, 0, 0},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"media_type":"image/png","data":"aGk="}}]}}]}]}`, 4, claudeImage},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}]}`, 52, 2 * image},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]}`, 26, image},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:application/pdf;base64,aGk="}}]}]}`, 32, 1_000_000},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:;base64,aGk="}}]}]}`, 17, 1_000_000},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_file","file_data":"data:text/plain;base64,aGk="}]}]}`, 27, 1_000_000},
		{egress.OpenAI, `{"model":"big","input":[{"type":"image_generation_call","result":"aGk="}]}`, 4, other},
		{egress.OpenAI, `{"model":"big","input":[{"type":"code_interpreter_call","outputs":[{"type":"image","url":"data:image/png;base64,aGk="}]}]}`, 26, image},
		{egress.Anthropic, `{"model":"big","tools":[{"name":"a"},{"name":"` + strings.Repeat("b", 3000) + `"}],"messages":[{"content":[{"type":"tool_result","content":[{"type":"tool_reference","tool_name":"a"},{"type":"tool_reference","tool_name":"a"}]}]}]}`, 0, 2 * (4 + 6 + 3000 + 6 + 6)},
		{egress.Anthropic, `{"model":"big","tools":[{"type":"text_editor_20250728","name":"edit"}],"messages":[{"content":[{"type":"tool_reference","tool_name":"edit"},{"type":"tool_reference","tool_name":"edit"}]}]}`, 0, 2 * 2000},
		{egress.Anthropic, `{"model":"big","messages":[{"content":[{"type":"tool_reference","tool_name":"a"},{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"longer"}}}]}]}`, 0, 2000},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_file","filename":"a.txt","file_data":"data:image/png;base64,aGk="}]}]}`, 26, other},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk=","format":"application/pdf"}}]}]}`, 26, 1_000_000},
		{egress.Gemini, `{"model":"big","contents":[{"parts":[{"inlineData":{"mimeType":"image/png","mime_type":"application/pdf","data":"aGk="}}]}]}`, 4, 1_000_000},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_file","file_data":"data:application/pdf;base64,aGk="}]}]}`, 32, other},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}}]}]}`, 4, other},
		{egress.OpenAI, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"data:image/png,` + "\xff\xff" + `"}]}]}`, 0, image},
		{egress.OpenAI, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"type":"image","url":"data:image/png;base64,aGk="}}]}]}`, 26, image},
		{egress.OpenAI, `{"model":"big","input":[{"type":"image_generation_call","result":{"type":"image","url":"data:image/png;base64,aGk="}}]}`, 26, image},
		{egress.OpenAI, `{"model":"big","input":[{"output":[{"image_url":[{"a":{"type":"image","url":"data:image/png;base64,aGk="}}]}]}]}`, 26, other + image},
		{egress.Gemini, `{"model":"big","contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"inline_data":{"mime_type":"video/mp4","data":"aGk="}}]}]}`, 8, image + other},
	} {
		if size, most := egress.Media(test.dialect, test.body); size != test.size || most != test.most {
			t.Errorf("%s: Media(%s) = %d, %d, want %d, %d", test.dialect, test.body, size, most, test.size, test.most)
		}
	}
}

// The bytes of media are not tokens: a picture of a megabyte is not a million tokens.
func TestPicturesAreNotTooLarge(t *testing.T) {
	server := uses(t, 1500, 10)
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 20_000 })
	picture := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("aGk=", 250_000) + `"}}`
	for range 2 {
		if got := d.ask(messages, `{"model":"big","max_tokens":10,"messages":[{"role":"user","content":[`+picture+`]}]}`); got.StatusCode != http.StatusOK {
			t.Errorf("answer %d %s", got.StatusCode, got.text)
		}
	}
}

// Input that is cached for an hour may cost twice its price.
func TestInputThatIsKept(t *testing.T) {
	for ttl, rate := range map[string]float64{"5m": 1.25, "1h": 2} {
		body := `{"model":"big","system":[{"type":"text","text":"` + strings.Repeat("x", 1000) + `","cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}}]}`
		got := chargedForLeaving(t, messages, body, func(m *egress.Model) {
			m.Prices = map[string]price.Rate{"big": {Input: 1, CacheWrite: 1.25}}
		})
		if want := float64(len(body)+2000) * rate / 1e6; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v are charged, want %v", ttl, got, want)
		}
	}
}

// chargedForLeaving returns the charge for a request whose client leaves before the answer begins.
func chargedForLeaving(t *testing.T, path, body string, change func(*egress.Model)) float64 {
	t.Helper()
	arrived := make(chan bool)
	server := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) {
		m.Now = func() time.Time { return time.Unix(0, 0) }
		change(m)
	})
	ctx, cancel := context.WithCancel(t.Context())
	request, ended := d.request(path, body).WithContext(ctx), make(chan int)
	go func() { ended <- status(request) }()
	<-arrived
	cancel()
	<-ended
	settled(t, d)
	return d.model.Spent().Charged
}

// A request that is cut off is not charged more than a model can read and write.
func TestLeavingCostsNoMoreThanAnAnswer(t *testing.T) {
	const answer, input = 128_000, 1_050_000
	file := `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}`
	for name, test := range map[string]struct {
		path, body string
		own        bool
		input      int // 0: the length of the body
		output     int
	}{
		"nothing but the cache":   {path: messages, body: `{"model":"big","max_tokens":0}`, own: true},
		"the same, elsewhere":     {path: messages, body: `{"model":"big","max_tokens":0}`, output: answer},
		"a word":                  {path: messages, body: `{"model":"big","max_tokens":"all"}`, own: true, output: answer},
		"a longer answer":         {path: responses, body: `{"model":"big","store":false,"max_output_tokens":1000000000}`, output: answer},
		"no number of versions":   {path: chat, body: `{"model":"big","max_tokens":10,"n":0}`, output: 10 * 128},
		"too many versions":       {path: chat, body: `{"model":"big","max_tokens":10,"n":1000000}`, output: 10 * 128},
		"more files than can be":  {path: messages, body: `{"model":"big","max_tokens":1,"messages":[{"content":[` + file + `,` + file + `]}]}`, input: input, output: 1},
		"more words than can be":  {path: messages, body: `{"model":"big","max_tokens":1,"system":"` + strings.Repeat("x", 1_100_000) + `"}`, input: input, output: 1},
		"what the request allows": {path: messages, body: `{"model":"big","max_tokens":100}`, output: 100},
	} {
		got := chargedForLeaving(t, test.path, test.body, func(m *egress.Model) {
			m.Prices = map[string]price.Rate{"big": {Input: 1, CacheWrite: 1, Output: 1}}
			if test.own {
				asMakers(m, m.Makers[0].Base.String())
			}
		})
		want := test.output + cmp.Or(test.input, len(test.body)+2000)
		if math.Abs(got*1e6-float64(want)) > 0.5 {
			t.Errorf("%s: %.0f tokens are charged, want %d", name, got*1e6, want)
		}
	}
}

// An answer without its usage counts by its bytes, and by no more than the request allows.
func TestUnreadAnswersHaveTheirLimit(t *testing.T) {
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1000)) })
	for body, want := range map[string]int64{`{"model":"big","max_tokens":3}`: 3, `{"model":"big","max_tokens":900}`: 200} {
		d := newTestModel(t, server.URL, nil)
		d.ask(messages, body)
		settled(t, d)
		if got := d.model.Spent().Usage.Output; got != want {
			t.Errorf("%s: used %d, want %d", body, got, want)
		}
	}
}

// Judging a body does not write it anew: escapes would make it six times as long.
func TestJudgingTakesLittleMemory(t *testing.T) {
	const size = 8 << 20
	body := `{"model":"big","tools":[{"name":"x","description":"` + strings.Repeat("<", size) + `"}]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	egress.Media(egress.Anthropic, body)
	runtime.ReadMemStats(&after)
	if more := after.TotalAlloc - before.TotalAlloc; more > 5*size {
		t.Errorf("%d MiB were taken", more>>20)
	}
}
