package agent_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// An id can be as long as a line.
func TestLongIDsAreNotRemembered(t *testing.T) {
	const long, lines, most = 1 << 20, 64, 16 << 20
	for name, line := range map[string]string{
		"claude":         `{"type":"assistant","message":{"id":"LONG","content":[{"type":"tool_use","name":"TodoWrite","id":"LONG","input":{}}]}}`,
		"claude, models": `{"type":"assistant","parent_tool_use_id":"t","message":{"id":"m","model":"LONG","usage":{"output_tokens":1}}}`,
		"codex":          `{"type":"item.started","item":{"id":"LONG","type":"command_execution","command":"ls"}}`,
		"gemini":         `{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"LONG","status":"pending"}}}`,
		"gemini, input": `{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"#","status":"pending",` +
			`"title":"LONG","rawInput":{"command":"LONG"},"content":[{"content":{"text":"LONG"}}]}}}`,
	} {
		kind, _, _ := strings.Cut(name, ",")
		adapter, err := agent.Pick(kind, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		decoder := adapter.Decoder(agent.Order{})
		before := heap()
		for i := range lines {
			decoder.Line([]byte(strings.NewReplacer("LONG", strings.Repeat(string(rune('0'+i)), long), "#", fmt.Sprint(i)).Replace(line)))
		}
		if kept := heap() - before; kept > most {
			t.Errorf("%s: %d bytes are kept of %d lines", name, kept, lines)
		}
		runtime.KeepAlive(decoder)
	}
}

func heap() int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

// A line has up to 8 MiB, and each of its millions of parts takes more memory than its text.
func TestLinesOfManyPartsTakeLittle(t *testing.T) {
	const most = 256 << 20
	many := func(part string) string {
		return strings.TrimSuffix(strings.Repeat(part+",", (4<<20)/(len(part)+1)), ",")
	}
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct{ agent, line string }{
		{"claude", `{"type":"assistant","message":{"content":[` + many(`{}`) + `]}}`},
		{"claude", `{"type":"user","message":{"content":[{"type":"tool_result","content":[` + many(`{}`) + `]}]}}`},
		{"claude", `{"type":"user","message":{"content":[` + many(`{"content":[`+strings.Repeat("{},", 900)+`{}]}`) + `]}}`},
		{"claude", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"TodoWrite","input":{"todos":[` + many(`{}`) + `]}}]}}`},
		{"claude", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"New","input":{"a":[` + many(`{}`) + `]}}]}}`},
		{"codex", `{"type":"item.completed","item":{"type":"file_change","changes":[` + many(`{}`) + `]}}`},
		{"codex", `{"type":"item.completed","item":{"type":"file_change","id":"` + long + `","changes":[` + strings.Repeat("{},", 900) + `{}]}}`},
		{"gemini", `{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[` + many(`{}`) + `]}}}`},
		{"gemini", `{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","content":[` + many(`{}`) + `]}}}`},
		{"codex", `{"type":"item.updated","item":{"type":"todo_list","items":[` + many(`{}`) + `]}}`},
	} {
		adapter, err := agent.Pick(test.agent, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		line := []byte(test.line)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		items := adapter.Decoder(agent.Order{}).Line(line)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%.100s: %d items, %d MiB", test.line, len(items), took>>20)
		}
	}
}

func TestItemsHaveShortNames(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	items := decode(t, "claude", `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"`+long+`","id":"`+long+`","input":{}}]}}`+"\n"+
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"`+long+`"}]}}`)
	began, ended := items[0].(stream.ToolStart), items[1].(stream.ToolEnd)
	if len(began.Name) > 300 || len(began.ID) > 300 || began.ID != ended.ID {
		t.Errorf("a name of %d bytes, ids of %d and %d", len(began.Name), len(began.ID), len(ended.ID))
	}
}
