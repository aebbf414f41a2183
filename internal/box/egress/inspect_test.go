package egress_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// Refused bodies, and which part of them is named.
func TestInspectRefuses(t *testing.T) {
	const a, o, g = egress.Anthropic, egress.OpenAI, egress.Gemini
	models := []string{"big", "helper-*", "listed:online"}
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		want    string
	}{
		{a, `{"model":"bigger"}`, `model "bigger"`},
		{a, `{"model":"helper-a,bigger"}`, `model "helper-a,bigger"`},
		{a, `{"model":"big","messages":[{"model":"bigger"}]}`, `model "bigger"`},
		{g, `{"model":"models/bigger"}`, `model "bigger"`},
		{o, `{"model":"helper-4o-search-preview"}`, `model "helper-4o-search-preview"`},
		{a, `{"model":"big","model":"bigger"}`, "a request"},
		{a, `{"model":"big","tools":[{"type":"web_search_20250305","type":"custom"}]}`, "a request"},
		{a, `{"model":"big"}{"model":"bigger"}`, "a request"},
		{a, `{"model":"big"`, "a request"},
		{a, `null`, "a request"},
		{a, `{"model":"big","a":[1` + strings.Repeat(",1", 2_000_001) + `]}`, "a request"},

		{a, `{"model":"big","mcp_servers":[{"type":"url","name":"x"}]}`, "mcp_servers"},
		{a, `{"model":"big","container":"c1"}`, "container"},
		{o, `{"model":"big","prompt":{"id":"p1"}}`, "prompt"},
		{o, `{"model":"big","web_search_options":{}}`, "web_search_options"},
		{o, `{"model":"big","background":true}`, "background"},

		{a, `{"model":"big","tools":[{"name":"x"},{"type":"web_search_20250305","name":"web_search"}]}`, `tool "web_search_20250305"`},
		{a, `{"model":"big","tools":[{"type":"bash_code_execution_20250825"}]}`, `tool "bash_code_execution_20250825"`},
		{a, `{"model":"big","tools":[{"type":1}]}`, `tool "unreadable"`},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"web_fetch_20260318"}}}]}]}`, `tool "web_fetch_20260318"`},
		{a, `{"model":"big","messages":[{"tool":{"type":"web_search_20250305"}}]}`, `tool "web_search_20250305"`},
		{o, `{"model":"big","functions":[{"type":"web_search"}]}`, `tool "web_search"`},
		{o, `{"model":"big","tools":[{"type":"tool_search"}]}`, `tool "tool_search"`},
		{o, `{"model":"big","tools":[{"type":"web_search","external_web_access":true}]}`, `tool "web_search"`},
		{o, `{"model":"big","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}`, `tool "mcp"`},
		{o, `{"model":"big","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}`, `tool "web_search"`},
		{g, `{"model":"big","tools":[{"googleSearch":{}}]}`, `tool "googleSearch"`},
		{g, `{"model":"big","generateContentRequest":{"tools":[{"url_context":{}}]}}`, `tool "url_context"`},

		{a, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://a.example/?secret"}}]}]}`, "url"},
		{o, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"https://a.example/x.png"}]}]}`, "image_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":" HTTPS://a.example/x.png"}}]}]}`, "url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","imageUrl":["https://a.example/x"]}]}]}`, "imageUrl"},
		{g, `{"model":"big","contents":[{"parts":[{"fileData":{"fileUri":"https://a.example/x"}}]}]}`, "fileUri"},
	} {
		if _, refused := egress.Inspect(test.dialect, models, test.body); refused != test.want {
			t.Errorf("%s: %.200s: refused %q, want %q", test.dialect, test.body, refused, test.want)
		}
	}
}

// Words of the agent and schemas of its tools may say anything. The size of media is not that of words.
func TestInspectAllows(t *testing.T) {
	const a, o, g = egress.Anthropic, egress.OpenAI, egress.Gemini
	const words = `{"model":"bigger","tools":[{"type":"web_search"}],"url":"https://a.example","background":true}`
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		media   int64
	}{
		{a, `{"model":"helper-1","metadata":` + words + `,"mcp_servers":[],"container":null}`, 0},
		{a, `{"model":"helper-20251001","messages":[{"content":[{"type":"tool_use","input":` + words + `},{"type":"text","text":"see https://a.example"}]}]}`, 0},
		{a, `{"model":"big-20251001","tools":[{"name":"x","input_schema":{"properties":` + words + `}},{"type":"bash_20250124"},{"type":"custom","name":"y"}]}`, 0},
		{a, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}`, 4},
		{o, `{"model":"listed:online","background":false,"input":"x","tools":[{"type":"function","name":"x","parameters":` + words + `},{"type":"custom","format":{"definition":"x"}}]}`, 0},
		{o, `{"model":"big","tools":[{"type":"tool_search","execution":"client"},{"type":"namespace","tools":[{"type":"function"}]}],"tool_choice":{"type":"function"}}`, 0},
		{o, `{"model":"big","tools":[{"type":"function","function":{"name":"x","parameters":` + words + `}}],"functions":[{"name":"x"}]}`, 0},
		{o, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"DATA:image/png;base64,aGk="},{"type":"input_file","file_data":"aGk="}]}]}`, 30},
		{g, `{"contents":[{"parts":[{"functionCall":{"args":` + words + `}},{"functionResponse":{"response":` + words + `}},{"inlineData":{"data":"aGk="}}]}]}`, 4},
		{g, `{"tools":[{"functionDeclarations":[{"name":"x","parametersJsonSchema":` + words + `}]}],"generationConfig":{"responseJsonSchema":` + words + `}}`, 0},
	} {
		media, refused := egress.Inspect(test.dialect, []string{"big", "helper-*", "listed:online"}, test.body)
		if refused != "" || media != test.media {
			t.Errorf("%s: %s: refused %q, %d bytes of media, want %d", test.dialect, test.body, refused, media, test.media)
		}
	}
}

// What CLIs send arrives unchanged. Only a stream of chat completions is asked for its usage.
func TestWhatClientsSendArrives(t *testing.T) {
	const claude = `{"model":"big","messages":[],"system":[],"tools":[],"metadata":{"user_id":"u"},"max_tokens":32000,"thinking":{"type":"adaptive"}, "context_management":{"edits":[]},"output_config":{"effort":"high"},"stream":true,"new":1e3}`
	const codex = `{"model":"big","stream":true,"instructions":"i","input":[],"tools":[],"reasoning":{"effort":"medium"},"store":false,"include":["reasoning.encrypted_content"],"client_metadata":{}}`
	const gemini = `{"contents":[],"systemInstruction":{},"tools":[],"generationConfig":{"temperature":1,"thinkingConfig":{"thinkingBudget":8192}}}`
	for _, test := range []struct{ path, body, want string }{
		{messages + "?beta=true", claude, claude},
		{responses, codex, codex},
		{streamed + "?alt=sse", gemini, gemini},
		{chat, `{"stream":false,"model":"big"}`, `{"stream":false,"model":"big"}`},
		{chat, `{"stream":true,"model":"big","n":1e0}`, `{"model":"big","n":1e0,"stream":true,"stream_options":{"include_usage":true}}`},
		{chat, `{"model":"big","stream":true,"stream_options":{"include_usage":false}}`, `{"model":"big","stream":true,"stream_options":{"include_usage":true}}`},
		{chat, `{"messages":["\ud83d \u00e9 é"],"model":"big","stream":true}`, `{"messages":["\ud83d \u00e9 é"],"model":"big","stream":true,"stream_options":{"include_usage":true}}`},
	} {
		server := modeltest.Start(t)
		d := newTestModel(t, server.URL, nil)
		got := d.ask(test.path, test.body)
		all := server.Requests()
		if got.StatusCode != http.StatusOK || len(all) != 1 || all[0].Body != test.want || len(d.told()) > 0 {
			t.Errorf("%s: answer %d %s, told %v, arrived %+v", test.body, got.StatusCode, got.text, d.told(), all)
		}
	}
}
