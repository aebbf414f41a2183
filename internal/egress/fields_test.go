package egress_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// The fields that CLIs were seen to send arrive unchanged.
func TestWhatClientsSendArrives(t *testing.T) {
	for name, ask := range map[string]struct{ path, body string }{
		"claude":   {messages + "?beta=true", `{"model":"big","messages":[],"system":[],"tools":[],"metadata":{"user_id":"u"},"max_tokens":32000,"thinking":{"type":"adaptive","display":"updates"}, "context_management":{"edits":[]},"output_config":{"effort":"high"},"stream":true}`},
		"opencode": {messages, `{"model":"big","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":16000},"system":"s","messages":[],"tools":[],"tool_choice":{"type":"auto"},"stream":true}`},
		"codex":    {responses, `{"model":"big","stream":true,"instructions":"i","input":[],"tools":[],"tool_choice":"auto","parallel_tool_calls":false,"reasoning":{"effort":"medium","context":"all_turns"},"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","text":{"verbosity":"low"},"client_metadata":{}}`},
		"copilot":  {chat, `{"model":"big","messages":[],"reasoning_effort":"medium","temperature":1,"max_tokens":64000,"tools":[],"stream":true,"stream_options":{"include_usage":true}}`},
		"gemini":   {streamed + "?alt=sse", `{"contents":[],"systemInstruction":{},"tools":[],"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := modeltest.Start(t)
			d := newTestModel(t, server.URL, func(m *egress.Model) { m.Budget.USD = 5 })
			got := d.ask(ask.path, ask.body)
			if all := server.Requests(); got.StatusCode != http.StatusOK || len(all) != 1 || all[0].Body != ask.body || len(d.told()) > 0 {
				t.Errorf("answer %d %s, told %v, arrived %+v", got.StatusCode, got.text, d.told(), all)
			}
		})
	}
}

// An unknown field is removed and reported; the client's answer does not change.
// The maker stores no answer.
func TestUnknownFieldsAreLeftOut(t *testing.T) {
	for _, test := range []struct{ path, body, want, told string }{
		{messages, `{"fallbacks":[{"model":"bigger"}],"model":"big"}`, `{"model":"big"}`, "fallbacks"},
		{messages, ` { "model" : "big" , "Model":"bigger" , "max_tokens": 5 } `, `{"max_tokens":5,"model":"big"}`, "Model"},
		{messages, `{"model":"big","betas":["files-api-2025-04-14"]}`, `{"model":"big"}`, "betas"},
		{messages, `{"model":"big","container":null}`, `{"model":"big"}`, "container"},
		{messages + "/count_tokens", `{"model":"big","user_profile_id":"u"}`, `{"model":"big"}`, "user_profile_id"},
		{chat, `{"models":["bigger"],"model":"big","messages":[],"route":"fallback"}`, `{"messages":[],"model":"big"}`, "models"},
		{chat, `{"model":"big","store":true}`, `{"model":"big","store":false}`, ""},
		{responses, `{"model":"big","store":false,"webhook_url":"https://a.example"}`, `{"model":"big","store":false}`, "webhook_url"},
		{responses, `{"model":"big","mod\u0065ls":["bigger"]}`, `{"model":"big","store":false}`, "models"},
		{responses, `{"model":"big","Background":true,"store":true}`, `{"model":"big","store":false}`, "Background"},
		{responses + "/compact", `{"model":"big"}`, `{"model":"big"}`, ""},
		{chat, `{"model":"big","messages":["\ud83d \u00e9 é"],"route":"fallback"}`, `{"messages":["\ud83d \u00e9 é"],"model":"big"}`, "route"},
		{generate, `{"contents":[],"labels":{"a":"b"},"store":true}`, `{"contents":[]}`, "labels"},
	} {
		server := newReceiver(t, nil)
		var arrived []byte
		server.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived, _ = io.ReadAll(r.Body) })
		d := newTestModel(t, server.URL, only("big"))
		got := d.ask(test.path, test.body)
		if string(arrived) != test.want || got.StatusCode != http.StatusOK {
			t.Errorf("%s %s: answer %d, arrived as %s, want %s", test.path, test.body, got.StatusCode, arrived, test.want)
		}
		told := slices.ContainsFunc(d.told(), func(r egress.Refusal) bool { return r.Sent && r.What == fmt.Sprintf("field %q", test.told) })
		if told != (test.told != "") {
			t.Errorf("%s: told %v", test.body, d.told())
		}
	}
}

// FuzzWithout checks that removing a field changes nothing else in a body.
func FuzzWithout(f *testing.F) {
	f.Add(` {"a":1 , "b":[{"c":"}"}] ,"d":null}`, "b")
	f.Add(`{"a":1}`, "a")
	f.Fuzz(func(t *testing.T, body, name string) {
		got := egress.Without(body, map[string]bool{name: true})
		if got == "" {
			return
		}
		var want, is map[string]any
		if json.Unmarshal([]byte(body), &want) != nil {
			return
		}
		delete(want, name)
		if err := json.Unmarshal([]byte(got), &is); err != nil || !cmp.Equal(want, is) {
			t.Errorf("%q without %q = %q, %v", body, name, got, err)
		}
	})
}

// All open bodies together have a memory limit. An answer that has ended releases
// its memory.
func TestBodiesHaveALimitTogether(t *testing.T) {
	arrived, release := make(chan bool), make(chan bool)
	server := newReceiver(t, whole(arrived, release, "1"))
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Limits.Bytes, m.Limits.Held = 800, 1000 })
	answer := make(chan int)
	go func() {
		answer <- status(d.request(messages, `{"model":"big","system":"`+strings.Repeat("x", 500)+`"}`))
	}()
	<-arrived
	if !egress.Full(d.model, 600) || egress.Full(d.model, 400) {
		t.Error("a body that waits for its answer takes no room")
	}
	close(release)
	<-answer
	settled(t, d)
	if egress.Full(d.model, 1000) {
		t.Error("its room is not free again")
	}
}

// Answers share the memory for what cannot be read yet. One that finds none passes unread: it is charged as one without
// its usage, by no more than the request allows.
func TestAnswersHaveALimitTogether(t *testing.T) {
	begun, rest := make(chan bool), make(chan bool)
	whole := `{"usage":{"input_tokens":7},"x":"` + strings.Repeat("x", 600) + `"}`
	server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, whole[:len(whole)-1])
		_ = http.NewResponseController(w).Flush()
		if r.Header.Get("X-Request-Id") == "slow" {
			begun <- true
			<-rest
		}
		_, _ = io.WriteString(w, whole[len(whole)-1:])
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) { m.Limits.Kept = 1000 })
	ask := func(id string) (text []byte, err error) {
		request := d.request(messages, `{"model":"big","max_tokens":3}`)
		request.Header.Set("X-Request-Id", id)
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		if id == "slow" {
			_, err = io.ReadFull(answer.Body, make([]byte, len(whole)-1)) // so much is kept
			begun <- err == nil
		}
		text, last := io.ReadAll(answer.Body)
		return text, errors.Join(err, last)
	}
	slow := make(chan error)
	go func() { _, err := ask("slow"); slow <- err }()
	<-begun
	<-begun
	if text, err := ask("other"); string(text) != whole || err != nil {
		t.Errorf("the other answer arrives as %q, %v", text, err)
	}
	close(rest)
	if err := <-slow; err != nil {
		t.Error(err)
	}
	if text, err := ask("later"); string(text) != whole || err != nil {
		t.Errorf("the later answer arrives as %q, %v", text, err)
	}
	settled(t, d)
	likely := int64(len(`{"model":"big","max_tokens":3}`)) / 5
	if got, want := d.model.Spent().Usage, (stream.Usage{Input: 7 + likely + 7, Output: 3}); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
}

// Only the shortened name of a removed field is kept.
func TestNamesOfFieldsAreNotKept(t *testing.T) {
	const requests, size = 20, 4 << 20
	d := newTestModel(t, newReceiver(t, nil).URL, only("big"))
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range requests {
		if got := d.ask(messages, fmt.Sprintf(`{"model":"big","%d%s":1}`, i, strings.Repeat("x", size))); got.StatusCode != http.StatusOK {
			t.Fatalf("answer %d", got.StatusCode)
		}
	}
	if more := int64(held()) - int64(before); more > requests*size/2 || len(d.told()) != requests {
		t.Errorf("%d MiB are kept of %d, and %d things were told", more>>20, requests*size>>20, len(d.told()))
	}
}

type answered func(*http.Request) *http.Response

func (f answered) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// OpenAI itself stores chats too, unless it is asked not to. Other servers of its dialect may
// not know the field.
func TestOpenAIStoresNoChat(t *testing.T) {
	for base, want := range map[string]string{
		"": `{"model":"big","service_tier":"default","store":false}`, "https://api.openai.com/v1": `{"model":"big","service_tier":"default","store":false}`, "https://gateway.example/v1": `{"model":"big"}`,
	} {
		var arrived []byte
		d := newTestModel(t, "", func(m *egress.Model) {
			m.Makers = []egress.Maker{{Dialect: egress.OpenAI, Key: realKey}}
			if base != "" {
				m.Makers[0].Base = address(t, base)
			}
			m.Transport = answered(func(r *http.Request) *http.Response {
				arrived, _ = io.ReadAll(r.Body)
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
			})
		})
		if d.ask(chat, `{"model":"big"}`); string(arrived) != want {
			t.Errorf("at %q arrived %s, want %s", base, arrived, want)
		}
		want = strings.Replace(want, `,"store":false`, "", 1) // what is compacted is never stored
		if d.ask(responses+"/compact", `{"model":"big"}`); string(arrived) != want {
			t.Errorf("at %q arrived %s to be compacted, want %s", base, arrived, want)
		}
	}
}

// A body that names another model than its path is refused: some gateways run the body's, and
// the path's was priced.
func TestTheBodyNamesTheModelOfThePath(t *testing.T) {
	for body, want := range map[string]int{
		`{"contents":[]}`: http.StatusOK, `{"model":"big"}`: http.StatusOK, `{"model":"models/big"}`: http.StatusOK,
		`{"model":"bigger"}`: http.StatusForbidden,
	} {
		d := newTestModel(t, newReceiver(t, nil).URL, nil)
		if got := d.ask(generate, body); got.StatusCode != want {
			t.Errorf("%s: answer %d, want %d", body, got.StatusCode, want)
		}
	}
}
