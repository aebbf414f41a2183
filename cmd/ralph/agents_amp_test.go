package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/websocket"
)

// ampServer plays the server of Amp, which AMP_URL names. Amp keeps its thread there: it
// opens a WebSocket of JSON-RPC, sends the instruction files that it finds and the
// prompt, and runs the tools that the server asks for. This is what version
// 0.0.1790142911 does; Amp documents none of it.
type ampServer struct {
	*httptest.Server
	script string // the one command that Amp runs
	mu     sync.Mutex
	told   []string // the prompt first, then everything else
}

const (
	ampThread = "T-12345678-0000-0000-0000-000000000001"
	ampAnswer = "M-0123456789abcdefghijAB"
)

func startAmp(t *testing.T, script string) *ampServer {
	t.Helper()
	s := &ampServer{script: script, told: []string{""}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.call)
	mux.Handle("/actors/gateway/threadActor/websocket/", websocket.Server{
		Handshake: func(config *websocket.Config, _ *http.Request) error {
			config.Protocol = config.Protocol[:1]
			return nil
		},
		Handler: s.talk,
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// bodies returns the prompt, and then everything else that Amp sent.
func (s *ampServer) bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.told...)
}

func (s *ampServer) note(text string, prompt bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if prompt {
		s.told[0] = text
		return
	}
	s.told = append(s.told, text)
}

// call answers what Amp asks by HTTP.
func (s *ampServer) call(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(string(body), false)
	answer := ok(map[string]any{})
	switch {
	case r.URL.Path == "/api/thread-actors":
		answer = map[string]any{"threadId": ampThread, "wsToken": "t", "ownerUserId": "u", "threadVersion": 0, "usesThreadActors": true, "executorType": "local-client"}
	case r.URL.RawQuery == "getUserInfo":
		answer = ok(map[string]any{"id": "u", "email": "ada@example.com", "emailVerified": true, "features": []any{}})
	case r.URL.RawQuery == "getThreadTail":
		answer = ok(map[string]any{"status": "idle", "messages": []any{}, "hasMore": false, "thread": map[string]any{"data": map[string]any{"id": ampThread, "v": 0, "messages": []any{}, "agentMode": "medium"}}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func ok(result any) map[string]any { return map[string]any{"ok": true, "result": result} }

// ampCall is a message of JSON-RPC, either way.
type ampCall struct {
	Version string          `json:"jsonrpc"`
	ID      string          `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

// talk is one connection. Once Amp has its tools and has sent the prompt, it is asked to
// run the command; when that is done the turn ends.
func (s *ampServer) talk(ws *websocket.Conn) {
	tell := func(method, params string) {
		_ = websocket.JSON.Send(ws, ampCall{Version: "2.0", Method: method, Params: json.RawMessage(params)})
	}
	tell("thread_title", `{"title":"t"}`) // an observer counts as connected by any message
	var prompt, tools bool
	for {
		var text string
		if websocket.Message.Receive(ws, &text) != nil {
			return
		}
		if text == "ping" {
			_ = websocket.Message.Send(ws, "pong")
			continue
		}
		var call ampCall
		if json.Unmarshal([]byte(text), &call) != nil {
			return
		}
		s.note(text, call.Method == "client_append_user_msg")
		if call.ID != "" {
			_ = websocket.JSON.Send(ws, ampCall{Version: "2.0", ID: call.ID, Result: map[string]any{"ok": true}})
		}
		switch call.Method {
		case "executor_connect":
			var who struct{ ClientID string }
			_ = json.Unmarshal(call.Params, &who)
			tell("executor_connected", fmt.Sprintf(`{"executorId":%q,"registeredToolCount":0,"guidanceInventory":[]}`, who.ClientID))
		case "client_append_user_msg", "executor_tools_bootstrap_complete":
			prompt = prompt || call.Method == "client_append_user_msg"
			if tools = tools || call.Method != "client_append_user_msg"; prompt && tools {
				args, _ := json.Marshal(map[string]string{"command": s.script})
				tell("agent_state", `{"state":"working","messageId":"`+ampAnswer+`"}`)
				tell("tool_lease", `{"toolCallId":"TU-0123456789abcdefghijAB","toolName":"shell_command","messageId":"`+ampAnswer+`","args":`+string(args)+`}`)
			}
		case "executor_tool_result":
			if strings.Contains(string(call.Params), `"in-progress"`) {
				continue
			}
			tell("message_added", `{"seq":1,"message":{"role":"assistant","threadId":"`+ampThread+`","messageId":"`+ampAnswer+`","state":{"type":"complete","stopReason":"end_turn"},"content":[{"type":"text","text":"Done."}]}}`)
			tell("agent_state", `{"state":"idle"}`)
		}
	}
}
