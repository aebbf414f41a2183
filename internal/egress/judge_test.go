package egress_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/egress"
)

var models = []string{"big", "helper-*", "listed:online"}

// Refused requests, and which part of them is named.
func TestJudgeRefuses(t *testing.T) {
	const a, o, g = egress.Anthropic, egress.OpenAI, egress.Gemini
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		want    string
	}{
		{a, `{"model":"bigger"}`, `model "bigger"`},
		{a, `{"model":"big-fast"}`, `model "big-fast"`},
		{a, `{"model":"Big"}`, `model "Big"`},
		{a, `{"Model":"big"}`, "a request"},
		{a, `{"model":"big","messages":[{"MODEL":"bigger"}]}`, `field "MODEL"`},
		{a, `{"model":"big","messages":[{"Tools":[{"type":"web_search_20250305"}]}]}`, `field "Tools"`},
		{a, `{"model":"big","messages":[{"content":[{"type":"image","\u017fource":{"type":"url"}}]}]}`, `field "\u017fource"`},
		{o, `{"model":"big","input":[{"content":[{"type":"input_image","Image_URL":"https://a.example/x.png"}]}]}`, `field "Image_URL"`},
		{a, `{}`, "a request"},
		{a, `{"model":""}`, "a request"},
		{a, `{"model":["big"]}`, "a request"},
		{a, `{"model":"big","model":"bigger"}`, "its body has a duplicate field"},
		{a, `{"model":"big","mod\u0065l":"bigger"}`, "its body has a duplicate field"},
		{a, `{"model":"big","tools":[{"type":"web_search_20250305","type":"custom"}]}`, "its body has a duplicate field"},
		{a, `{"model":"big"}{"model":"bigger"}`, "its body is not a JSON object"},
		{a, `[{"model":"big"}]`, "its body is not a JSON object"},
		{a, `"model"`, "its body is not a JSON object"},
		{a, ``, "its body is not a JSON object"},
		{a, `{"model":"big"`, "its body is not a JSON object"},
		{a, "\xef\xbb\xbf" + `{"model":"big"}`, "its body is not a JSON object"},
		{a, `{"model":"big","a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "its body is nested too deeply"},
		{a, `{"model":"big","tools":["web_search"]}`, "tools"},
		{o, `{"model":"big","tools":[[{"type":"web_search"}]]}`, "tools"},
		{a, `{"model":"big","service_tier":"priority"}`, `service_tier "priority"`},
		{a, `{"model":"big","service_tier":["priority"]}`, `service_tier ""`},
		{a, `{"model":"big","speed":1}`, `speed ""`},
		{g, `{"model":"big","serviceTier":3}`, `serviceTier ""`},
		{o, `{"model":"big","stream":1}`, "stream"},
		{o, `{"model":"big","stream":true,"stream_options":{"include_usage":true,"INCLUDE_USAGE":false}}`, `field "INCLUDE_USAGE"`},
		{g, `{"model":"big","generationConfig":{"maxOutputTokens":1,"MaxOutputTokens":100000}}`, `field "MaxOutputTokens"`},
		{o, `{"model":"big","messages":[{"content":[{"type":"video_url","video_url":{"url":"//a.example/x.png"}}]}]}`, "video_url"},
		{o, `{"model":"big","stream":"true"}`, "stream"},
		{a, `{"model":"big","tools":[{"type":"bash_code_execution_20250825"}]}`, `tool "bash_code_execution_20250825"`},
		{a, `{"model":"big","tools":[{"type":"text_editor_code_execution_20250825"}]}`, `tool "text_editor_code_execution_20250825"`},
		{o, `{"model":"big","messages":[{"content":[{"type":"video_url","video_url":{"url":"ht\ttps://e.example/x"}}]}]}`, `video_url`},
		{a, `{"model":"big","speed":"fast"}`, `speed "fast"`},
		{a, `{"model":"big","inference_geo":"us"}`, `inference_geo "us"`},
		{g, `{"model":"big","serviceTier":"SERVICE_TIER_PRIORITY"}`, `serviceTier "SERVICE_TIER_PRIORITY"`},
		{a, `{"model":"big","messages":[{"model":"bigger"}]}`, `model "bigger"`},
		{a, `{"model":"big","messages":[` + strings.Repeat(`{"":0},`, 100_000) + `0]}`, "its body has too many values"},
		{a, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"file","file_id":"f1"}}]}]}`, "file_id"},
		{a, `{"model":"big","messages":[{"content":[{"type":"container_upload","file_id":"f1"}]}]}`, "file_id"},
		{a, `{"model":"big","mcp_servers":[{"type":"url","url":"https://a.example"}]}`, "mcp_servers"},
		{a, `{"model":"big","container":"c1"}`, "container"},
		{a, `{"model":"big","tools":[{"name":"x"},{"type":"web_search_20250305","name":"web_search"}]}`, `tool "web_search_20250305"`},
		{a, `{"model":"big","tools":[{"type":"web_fetch_20250910"}]}`, `tool "web_fetch_20250910"`},
		{a, `{"model":"big","tools":[{"type":"tool_search_tool_regex_20251119"}]}`, `tool "tool_search_tool_regex_20251119"`},
		{o, `{"model":"big","tools":[{"type":"tool_search"}]}`, `tool "tool_search"`},
		{o, `{"model":"big","tools":[{"type":"tool_search","execution":"server"}]}`, `tool "tool_search"`},
		{o, `{"model":"big","tools":[{"type":"tool_search","execution":"client","Execution":"server"}]}`, `field "Execution"`},
		{o, `{"model":"big","input":[{"type":"additional_tools","tools":[{"type":"tool_search"}]}]}`, `tool "tool_search"`},
		{o, `{"model":"big","reasoning":{"effort":"high","mode":"pro"}}`, "reasoning.mode"},
		{a, `{"model":"big","tools":[{"type":"code_execution_20250825"}]}`, `tool "code_execution_20250825"`},
		{a, `{"model":"big","tools":[{"type":"computer_20250124"}]}`, `tool "computer_20250124"`},
		{a, `{"model":"big","tools":[{"type":"advisor_20260301","model":"big"}]}`, `tool "advisor_20260301"`},
		{a, `{"model":"big","tools":[{"type":"mcp_toolset"}]}`, `tool "mcp_toolset"`},
		{a, `{"model":"big","tools":[{"type":1}]}`, `tool "unreadable"`},
		{a, `{"model":"big","tools":[{"Type":"web_search_20250305"}]}`, `field "Type"`},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"web_fetch_20260318"}}}]}]}`, `tool "web_fetch_20260318"`},
		{a, `{"model":"big","messages":[{"content":[{"type":"compaction","tool_changes":[{"tool":{"definition":{"type":"code_execution_20260521"}}}]}]}]}`, `tool "code_execution_20260521"`},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_addition","tool":{"type":"web_search_20250305","name":"web_search"}}]}]}`, `tool "web_search_20250305"`},
		{a, `{"model":"big","messages":[{"content":[{"tool":{"Definition":{"type":"web_fetch_20260318"}}}]}]}`, `field "Definition"`},
		{a, `{"model":"big","tools":{"0":{"type":"web_search_20250305"}}}`, "tools"},
		{a, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://a.example/?secret"}}]}]}`, "source"},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_result","content":[{"type":"document","source":{"type":"url","url":"http://a"}}]}]}]}`, "source"},
		{o, `{"model":"big","tools":[{"type":"web_search","external_web_access":true}]}`, `tool "web_search"`},
		{o, `{"model":"big","tools":[{"type":"file_search"}]}`, `tool "file_search"`},
		{o, `{"model":"big","tools":[{"type":"code_interpreter"}]}`, `tool "code_interpreter"`},
		{o, `{"model":"big","tools":[{"type":"mcp","server_url":"https://a.example"}]}`, `tool "mcp"`},
		{o, `{"model":"big","tools":[{"type":"image_generation"}]}`, `tool "image_generation"`},
		{o, `{"model":"big","tools":[{"type":"computer_use_preview"}]}`, `tool "computer_use_preview"`},
		{o, `{"model":"big","tools":[{"type":"namespace","tools":[{"type":"web_search"}]}]}`, `tool "web_search"`},
		{o, `{"model":"big","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}`, `tool "web_search"`},
		{o, `{"model":"big","background":true}`, "background"},
		{o, `{"model":"big","prompt":{"id":"p1"}}`, "prompt"},
		{o, `{"model":"big","web_search_options":{}}`, "web_search_options"},
		{o, `{"model":"big","conversation":"c1"}`, "conversation"},
		{o, `{"model":"big","conversation":{"id":"c1"}}`, "conversation"},
		{o, `{"model":"big","previous_response_id":"r1"}`, "previous_response_id"},
		{o, `{"model":"big","input":[{"type":"item_reference","id":"i1"}]}`, "item_reference"},
		{o, `{"model":"big","input":[{"id":"i1"}]}`, "item_reference"},
		{o, `{"model":"big","messages":[{"role":"assistant","audio":{"id":"a1"}}]}`, "audio"},
		{o, `{"model":"big","input":[{"type":"reasoning","id":"i1","summary":[{"type":"summary_text","text":"x"}],"content":[]}]}`, "item_reference"},
		{o, `{"model":"big","input":[{"type":"image_generation_call","id":"i1","status":"completed","result":null}]}`, "item_reference"},
		{o, `{"model":"big","input":[{"role":"user","content":"x"},{"type":null,"id":"i1","role":"user"}]}`, "item_reference"},
		{o, `{"model":"big","input":[{"id":"i1","content":"x"}]}`, "item_reference"},
		{o, `{"model":"helper-x:online"}`, `model "helper-x:online"`},
		{o, `{"model":"helper-4o-search-preview"}`, `model "helper-4o-search-preview"`},
		{o, `{"model":"big","modalities":["text","audio"]}`, "modalities"},
		{g, `{"model":"big","generationConfig":{"responseModalities":["TEXT","IMAGE"]}}`, "responseModalities"},
		{g, `{"model":"big","generation_config":{"response_modalities":["AUDIO"]}}`, "response_modalities"},
		{g, `{"model":"big","generationConfig":{"responseModalities":"AUDIO"}}`, "responseModalities"},
		{o, `{"model":"big","input":[{"role":"user","content":[{"type":"input_file","file_id":"f1"}]}]}`, "file_id"},
		{o, `{"model":"big","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f1"}}]}]}`, "file_id"},
		{o, `{"model":"big","service_tier":"Priority"}`, `service_tier "Priority"`},
		{o, `{"model":"big","input":[{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/x.png"}]}]}`, "image_url"},
		{o, `{"model":"big","input":[{"role":"user","content":[{"type":"input_file","file_url":"https://a.example/x"}]}]}`, "file_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"` + strings.Repeat("x", 101) + `","x":"https://a.example/x.png"}]}]}`, "x"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":" HTTPS://a.example/x.png"}}]}]}`, "image_url"},
		{g, `{"model":"models/bigger"}`, `model "bigger"`},
		{g, `{"model":"big","tools":[{"googleSearch":{}}]}`, `tool "googleSearch"`},
		{g, `{"model":"big","tools":[{"google_search":{}}]}`, `tool "google_search"`},
		{g, `{"model":"big","tools":[{"urlContext":{}}]}`, `tool "urlContext"`},
		{g, `{"model":"big","tools":[{"codeExecution":{}}]}`, `tool "codeExecution"`},
		{g, `{"model":"big","tools":[{"computerUse":{}}]}`, `tool "computerUse"`},
		{g, `{"model":"big","cachedContent":"cachedContents/x"}`, "cachedContent"},
		{g, `{"model":"big","generateContentRequest":{"cached_content":"cachedContents/x"}}`, "cached_content"},
		{g, `{"model":"big","generationConfig":{"continuationToken":"x"}}`, "continuationToken"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","file":{"filename":"a.pdf","file_data":"https://a.example/x"}}]}]}`, "file"},
		{o, `{"model":"big","messages":[{"content":[{"type":"input_file","file_data":" https://a.example/x"}]}]}`, "file_data"},
		{o, `{"model":"big","messages":[{"content":[{"type":"video_url","video_url":{"url":"https://a.example/x"}}]}]}`, "video_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"input_video","x":"s3://a/x"}]}]}`, "x"},
		{o, `{"model":"big","messages":[{"content":[{"type":"video","video":["https:a.example"]}]}]}`, "video"},
		{o, `{"model":"big","messages":[{"content":[{"audio_url":{"url":{"url":"http://a.example/x"}}}]}]}`, "audio_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"input_audio","input_audio":{"data":"https://a.example/x"}}]}]}`, "input_audio"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":[{"url":"https://a.example/x"}]}]}]}`, "image_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","imageUrl":{"url":"\u00a0https://a.example/x"}}]}]}`, "imageUrl"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image","url":"https://a.example/x"}]}]}`, "url"},
		{o, `{"model":"big","messages":[{"content":[{"video":"` + strings.Repeat(" ", 5000) + `https://a.example/x"}]}]}`, "video"},
		{o, `{"model":"big","messages":[{"content":[{"video":"h` + strings.Repeat(`\n`, 5000) + `ttps://a.example/x"}]}]}`, "video"},
		{o, `{"model":"big","messages":[{"content":[{"video":"//` + strings.Repeat("x", 5000) + `@a.example/x"}]}]}`, "video"},
		{o, `{"model":"big","messages":[{"` + strings.Repeat("x", 101) + `":"https://a.example/x"}]}`, strings.Repeat("x", 80) + `\u2026`},
		{o, `{"model":"big","messages":[{"content":[{"type":"x","source":{"url":"gs:\\\\a/x"}}]}]}`, "source"},
		{a, `{"model":"big","messages":[{"content":[{"type":"document","source":{"type":"base64","data":"https://a.example/x"}}]}]}`, "source"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","file":{"type":"text","file_data":"https://a.example/x"}}]}]}`, "file"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","title":{"file":"https://a.example/x"}}]}]}`, "title"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","file":{"filename":{"url":"https://a.example/x"}}}]}]}`, "file"},
		{g, `{"model":"big","contents":[{"parts":[{"inlineData":{"data":"x"},"videoData":{"uri":"https://a.example/x"}}]}]}`, "videoData"},
		{g, `{"model":"big","contents":[{"parts":[{"fileData":{"fileUri":"https://a.example/x"}}]}]}`, "fileData"},
		{g, `{"model":"big","contents":[{"parts":[{"file_data":{"file_uri":"https://a.example/x"}}]}]}`, "file_data"},
		{g, `{"model":"big","contents":[{"parts":[{"inlineData":{"mimeType":"audio/wav","data":"aGk="}}]}]}`, "inlineData"},
		{g, `{"model":"big","contents":[{"parts":[{"inline_data":{"mime_type":"Video/mp4","data":"aGk="}}]}]}`, "inline_data"},
		{g, `{"model":"big","contents":[{"parts":[{"inlineData":{"mimeType":"text/plain","mime_type":"audio/wav","data":"aGk="}}]}]}`, "inlineData"},
		{o, `{"model":"big","messages":[{"content":[{"type":"input_audio","input_audio":{"data":"aGk=","format":"mp3"}}]}]}`, "input_audio"},
		{g, `{"model":"big","generationConfig":{"responseFormat":[{"image":{}}]}}`, "responseFormat"},
		{g, `{"model":"big","generationConfig":{"routingConfig":{"manualMode":{"modelName":"bigger"}}}}`, "routingConfig"},
		{o, `{"model":"big","tools":[{"urlContext":{}}]}`, `tool "urlContext"`},
		{o, `{"model":"big","tools":[{"type":"function","googleSearch":{}}]}`, `tool "googleSearch"`},
		{a, `{"model":"big","context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"compact_20260112"}]}}`, `edit "compact_20260112"`},
		{a, `{"model":"big","context_management":{"edits":[{}]}}`, `edit ""`},
		{a, `{"model":"big","context_management":[{"type":"compact_20260112"}]}`, `edit "compact_20260112"`},
		{o, `{"model":"big","tools":[{"type":"function","function":{"name":"urlContext"}}]}`, `tool "urlContext"`},
		{o, `{"model":"big","tools":[{"type":"function","name":"googleSearch"}]}`, `tool "googleSearch"`},
		{a, `{"model":"big","tools":[{"name":"urlContext","input_schema":{},"function":{"name":"x"}}]}`, `tool "urlContext"`},
		{o, `{"model":"big","tools":[{"function":{"Name":"urlContext"}}]}`, `field "Name"`},
		{o, `{"model":"big","functions":[{"urlContext":{}}]}`, `tool "urlContext"`},
		{o, `{"model":"big","functions":[{"type":"web_search"}]}`, `tool "web_search"`},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:video/mp4;base64,aGk="}}]}]}`, "image_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"image_url","image_url":{"url":" Data: audio/wav;base64,aGk="}}]}]}`, "image_url"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","file":{"file_data":"data:audio/wav;base64,aGk="}}]}]}`, "file_data"},
		{o, `{"model":"helper-search"}`, `model "helper-search"`},
		{o, `{"model":"big","response_format":{"type":"json_schema","enforce_validation":true,"json_schema":{"schema":{"$ref":"https://a.example"}}}}`, "enforce_validation"},
		{o, `{"model":"helper-deep-research"}`, `model "helper-deep-research"`},
		{o, `{"model":"helper-a,helper-b"}`, `model "helper-a,helper-b"`},
		{o, `{"model":"helper-` + strings.Repeat("x", 200) + `"}`, `model "helper-` + strings.Repeat("x", 73) + `\u2026"`},
		{o, `{"model":"big","messages":[{"image` + strings.Repeat("x", 1<<20) + `":"https://a.example"}]}`, "image" + strings.Repeat("x", 75) + `\u2026`},
	} {
		if _, got := egress.Judge(test.dialect, models, test.body); got != test.want {
			t.Errorf("%s: Judge(%.120s) = %q, want %q", test.dialect, test.body, got, test.want)
		}
	}
}

// Requests of CLIs, and others that only look like refused ones.
func TestJudgeLetsPass(t *testing.T) {
	const a, o, g = egress.Anthropic, egress.OpenAI, egress.Gemini
	for _, test := range []struct {
		dialect egress.Dialect
		body    string
		model   string
	}{
		{a, `{"model":"big","stream":true,"tools":[{"name":"Bash"},{"type":"custom","name":"x"},{"type":null},{"type":"bash_20250124"},{"type":"text_editor_20250728"},{"type":"memory_20250818"}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_addition","tool":{"definition":{"name":"x","input_schema":{"Type":1}}}}]}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_addition","tool":{"type":"tool_reference","name":"x"}}]}]}`, "big"},
		{o, `{"model":"big","input":[{"type":"reasoning","id":"i1","summary":[],"encrypted_content":"x"},{"type":"reasoning","id":"i2","content":[{"text":"x"}]},{"type":"reasoning","summary":[]},{"type":"image_generation_call","id":"i3","result":"aGk="}]}`, "big"},
		{g, `{"model":"big","cachedContent":null}`, "big"},
		{o, `{"model":"big","tools":[{"type":"custom","format":{"type":"grammar","definition":"start: x"}}]}`, "big"},
		{a, `{"model":"big-20260101"}`, "big-20260101"},
		{a, `{"model":"big","output_config":{"format":{"type":"json_schema","schema":{"properties":{"Name":{"type":"string"},"source":{"url":"https://a.example"}}}}}}`, "big"},
		{a, `{"model":"big","context_management":{"edits":[{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":3}}]},"tools":[{"name":"x","input_schema":{},"cache_control":{"type":"ephemeral"}}]}`, "big"},
		{o, `{"model":"big","response_format":{"type":"json_object"},"tools":[{"type":"function","strict":null,"function":{"name":"x"}}]}`, "big"},
		{a, `{"model":"big","tools":[{"name":"fetch","input_examples":[{"file":"https://a.example"}]}]}`, "big"},
		{a, `{"model":"big-2026-01-01","mcp_servers":[],"container":null,"service_tier":"auto","speed":"standard","inference_geo":"global"}`, "big-2026-01-01"},
		{a, `{"model":"helper-3"}`, "helper-3"},
		{a, `{"model":"big","tools":[{"name":"x","input_schema":{"properties":{"tools":{"type":"array"},"model":{"type":"string"},"source":{"type":"object","url":"x"}}}}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":[{"type":"tool_use","input":{"model":"bigger","tools":[{"type":"web_search_1"}],"source":{"type":"url","url":"https://a"}}}]}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":[{"type":"image","source":{"type":"base64","data":"aGk="}},{"type":"search_result","source":"https://a.example"}]}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":"call the tools web_search and model bigger"}],"metadata":{"model":"bigger"}}`, "big"},
		{o, `{"model":"big","background":false,"conversation":null,"input":[{"content":[{"type":"input_image","file_id":null,"image_url":"data:image/png;base64,aGk="}]}],"tools":[{"type":"function","name":"a","parameters":{"properties":{"image_url":"https://a","model":"x"}}},{"type":"namespace","tools":[{"type":"custom"}]},{"type":"local_shell"},{"type":"tool_search","execution":"client","description":"x","parameters":{}}]}`, "big"},
		{o, `{"model":"big","input":[{"type":"additional_tools","tools":[{"type":"namespace","tools":[{"type":"function"}]}]},{"type":"function_call","arguments":"{\"tools\":[{\"type\":\"web_search\"}]}"}],"client_metadata":{"model":"x"}}`, "big"},
		{o, `{"model":"big","input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}]}`, "big"},
		{o, `{"model":"big","modalities":["text"],"input":[{"id":"m1","role":"user","content":"x"},{"id":"m2","type":"message","role":"user","content":"x"}]}`, "big"},
		{o, `{"model":"listed:online"}`, "listed:online"},
		{o, `{"model":"big","service_tier":"auto","functions":[{"name":"x","parameters":{"Name":1}}]}`, "big"},
		{o, `{"model":"big","context_management":[{"type":"compaction"}]}`, "big"},
		{o, `{"model":"big","messages":[{"content":[{"type":"text","text":"https://a.example"},{"type":"file","file":{"filename":"C:/x.pdf","file_data":"data:application/pdf;base64,aGk="}}]},{"content":"https://a.example"}]}`, "big"},
		{o, `{"model":"big","messages":[{"content":[{"type":"file","file":{"filename":"https://a.example/x.pdf","file_data":"data:application/pdf;base64,aGk="}}]}]}`, "big"},
		{o, `{"model":"big","input":[{"type":"function_call_output","output":"https://a.example"},{"type":"message","content":[{"type":"output_text","text":"x","annotations":[{"type":"url_citation","url":"https://a.example"}]}]}]}`, "big"},
		{o, `{"model":"big","input":[{"type":"local_shell_call","action":{"type":"exec","command":["curl","https://a.example"],"env":{}}},{"type":"input_file","file_data":"//uQxAAA"}]}`, "big"},
		{a, `{"model":"big","messages":[{"content":[{"type":"document","title":"https://a.example","source":{"type":"text","media_type":"text/plain","data":"https://a.example"}}]}]}`, "big"},
		{g, `{"model":"big","generationConfig":{"responseModalities":["TEXT"]}}`, "big"},
		{o, `{"model":"big","text":{"format":{"type":"json_schema","schema":{"properties":{"model":"x"}}}}}`, "big"},
		{g, `{"model":"models/big","tools":[{"functionDeclarations":[{"name":"x","parametersJsonSchema":{"properties":{"model":"x"}}}]}]}`, "models/big"},
		{g, `{"model":"big","contents":[{"parts":[{"functionCall":{"args":{"fileUri":"https://a","model":"x"}}},{"inlineData":{"data":"aGk="}}]}]}`, "big"},
	} {
		if model, no := egress.Judge(test.dialect, models, test.body); no != "" || model != test.model {
			t.Errorf("%s: Judge(%.120s) = %q, refused for %q", test.dialect, test.body, model, no)
		}
	}
}

// FuzzJudge checks that any body can be judged, and that none passes with a model
// that the list does not allow.
func FuzzJudge(f *testing.F) {
	f.Add(`{"model":"big","tools":[{"type":"web_search"}],"input":[{"a":[1,null,"x"]}]}`)
	f.Add(`{"model":"big","model":"bigger"}`)
	f.Add(`{"model":{"model":"big"}}`)
	f.Add(`{"model":"big","input":[{"image":"https://a.example"}]}`)
	f.Add(`{"model":"big","input":[{"type":"reasoning","id":"i1"},{"tool":{"type":"web_search"}},{"video":"h\nttp://a"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, d := range []egress.Dialect{egress.Anthropic, egress.OpenAI, egress.Gemini} {
			model, no := egress.Judge(d, []string{"big"}, body)
			if no == "" && !egress.Allows([]string{"big"}, strings.TrimPrefix(model, "models/")) {
				t.Errorf("%s: %q passes with the model %q", d, body, model)
			}
			if len(no) > 600 {
				t.Errorf("refused in %d bytes", len(no))
			}
		}
	})
}

func TestAt(t *testing.T) {
	for _, test := range []struct {
		dialect          egress.Dialect
		base, path, want string
	}{
		{egress.Anthropic, "", "/v1/messages", "https://api.anthropic.com/v1/messages"},
		{egress.Anthropic, "https://h", "/v1/messages", "https://h/v1/messages"},
		{egress.Anthropic, "https://h/", "/v1/messages", "https://h/v1/messages"},
		{egress.Anthropic, "https://h/v1/", "/v1/messages", "https://h/v1/messages"},
		{egress.Anthropic, "https://h/gateway/anthropic", "/v1/messages", "https://h/gateway/anthropic/v1/messages"},
		{egress.OpenAI, "", "/v1/responses", "https://api.openai.com/v1/responses"},
		{egress.OpenAI, "https://h", "/v1/responses", "https://h/v1/responses"},
		{egress.OpenAI, "https://h/v1", "/v1/chat/completions", "https://h/v1/chat/completions"},
		{egress.OpenAI, "https://h/openai/deployments/d?api-version=1", "/v1/chat/completions", "https://h/openai/deployments/d/chat/completions?api-version=1"},
		{egress.Gemini, "", "/v1beta/models/m:generateContent", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"},
		{egress.Gemini, "https://h/v1beta", "/v1beta/models/m:generateContent", "https://h/v1beta/models/m:generateContent"},
	} {
		maker := egress.Maker{Dialect: test.dialect}
		if test.base != "" {
			maker.Base = address(t, test.base)
		}
		if got := egress.At(maker, test.path); got != test.want {
			t.Errorf("%s at %q: %s, want %s", test.dialect, test.base, got, test.want)
		}
	}
}

// longBody returns the body of a long session.
func longBody() string {
	message := `{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("some words ", 150) + `"},{"type":"tool_use","input":{"command":"ls -l"}}]}`
	return `{"model":"big","stream":true,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[` + strings.Repeat(message+",", 1150) + message + `]}`
}

func judged(tb testing.TB, body string) {
	tb.Helper()
	if _, no := egress.Judge(egress.Anthropic, models, body); no != "" {
		tb.Fatal(no)
	}
}
