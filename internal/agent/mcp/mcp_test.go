package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/lib/environ"
)

const file = `{"mcpServers": {
	"docs": {"command": "npx", "args": ["-y", "say \"hi\""], "env": {"B": "2", "A": "1"}},
	"far": {"url": "https://mcp.example/x", "headers": {"X-A": "b"}},
	"odd name": {"command": "x"}, "both": {"command": "x", "url": "https://x.example"}
}}`

// Each CLI gets the named servers, and no other, in its own words.
func TestFlags(t *testing.T) {
	servers, err := mcp.Read([]byte(file), []string{"docs", "far"})
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string][]string{
		"claude": {"--strict-mcp-config", "--mcp-config", `{"mcpServers":{"docs":{"command":"npx","args":["-y","say \"hi\""],"env":{"A":"1","B":"2"}},"far":{"url":"https://mcp.example/x","headers":{"X-A":"b"}}}}`},
		"amp":    {"--mcp-config", `{"docs":{"command":"npx","args":["-y","say \"hi\""],"env":{"A":"1","B":"2"}},"far":{"url":"https://mcp.example/x","headers":{"X-A":"b"}}}`},
		"copilot": {"--additional-mcp-config", `{"mcpServers":{"docs":{"type":"local","command":"npx","args":["-y","say \"hi\""],"env":{"A":"1","B":"2"},"tools":["*"]},` +
			`"far":{"type":"http","url":"https://mcp.example/x","headers":{"X-A":"b"},"tools":["*"]}}}`},
		"codex": {
			"-c", `mcp_servers.docs={args=["-y","say \"hi\""],command="npx",env={"A"="1","B"="2"},env_vars=["` + strings.Join(environ.Network(), `","`) + `"]}`,
			"-c", `mcp_servers.far={http_headers={"X-A"="b"},url="https://mcp.example/x"}`,
		},
	} {
		got, err := servers.Flags(agent)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", agent, err, diff)
		}
	}
	if _, err := servers.Flags("command"); err == nil {
		t.Error("a program that ralph does not know has flags")
	}
}

// Agents that speak the Agent Client Protocol get them with the session.
func TestForACP(t *testing.T) {
	servers, err := mcp.Read([]byte(file), []string{"docs", "far"})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"name":"docs","command":"npx","args":["-y","say \"hi\""],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},` +
		`{"type":"http","name":"far","args":[],"env":[],"url":"https://mcp.example/x","headers":[{"name":"X-A","value":"b"}]}]`
	got, err := json.Marshal(servers.ForACP())
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("ForACP: %v (-want +got):\n%s", err, diff)
	}
	if flags, err := servers.Flags("gemini"); err != nil || len(flags) > 0 {
		t.Errorf("gemini also gets the flags %q, %v", flags, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, test := range map[string]struct {
		names []string
		why   string
	}{
		file:                 {[]string{"none"}, `no server "none"`},
		file + " ":           {[]string{"odd name"}, "not of letters"},
		file + "\n":          {[]string{"both"}, "either a command or a url"},
		file + "\t":          {nil, "either a command or a url"},
		`{"mcpServers": {}}`: {nil, "no mcpServers"},
		`{`:                  {nil, "unexpected end"},
	} {
		if _, err := mcp.Read([]byte(text), test.names); err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%q: %v, want %s", test.names, err, test.why)
		}
	}
}

// Each server that is read has a plain name, and either a command or an address.
func FuzzRead(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte(`{"mcpServers":{"a b":{"command":"x"},"":{"url":"file:///etc/passwd"},"c":{"command":"x","url":"https://y"},"d":null}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"command":["x"],"args":"y","env":{"A":1}},"a":{"type":"http","url":"https://u:p@h/${HOME}"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, err := mcp.Read(data, nil)
		if err != nil {
			return
		}
		for name, server := range servers {
			if name == "" || strings.ContainsAny(name, " .\"'\n=") || (server.Command == "") == (server.URL == "") {
				t.Errorf("%q: %+v", name, server)
			}
		}
	})
}
