// Package mcp reads which MCP servers a project allows its agents. It takes a file in the
// form of Claude Code's .mcp.json and the names of servers in it, and returns the flags
// or settings by which an agent CLI starts them. The servers run where the agent runs.
package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// Servers are MCP servers by their names.
type Servers map[string]Server

// Server is a program to start, or an address.
type Server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Tools   []string          `json:"tools,omitempty"` // for Copilot
}

var plainName = pattern.Of(`^[A-Za-z0-9_-]{1,64}$`)

// Read returns the named servers of a file; all of them where none is named.
func Read(data []byte, names []string) (Servers, error) {
	var file struct {
		Servers Servers `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(file.Servers))
	}
	servers := Servers{}
	for _, name := range names {
		server, found := file.Servers[name]
		switch {
		case !found:
			return nil, fmt.Errorf("no server %q in mcpServers", name)
		case !plainName.MatchString(name):
			return nil, fmt.Errorf("the name %q is not of letters, digits, - and _", name)
		case (server.Command == "") == (server.URL == ""):
			return nil, fmt.Errorf("the server %q needs either a command or a url", name)
		}
		servers[name] = server
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("no mcpServers")
	}
	return servers, nil
}

// Flags give an agent CLI the servers. Gemini CLI and opencode get Settings instead.
func (s Servers) Flags(agent string) ([]string, error) {
	switch agent {
	case "claude":
		return []string{"--strict-mcp-config", "--mcp-config", encode(map[string]any{"mcpServers": s})}, nil
	case "copilot":
		return []string{"--additional-mcp-config", encode(map[string]any{"mcpServers": s.forCopilot()})}, nil
	case "amp":
		return []string{"--mcp-config", encode(s)}, nil
	case "codex":
		var flags []string
		for _, name := range slices.Sorted(maps.Keys(s)) {
			flags = append(flags, "-c", "mcp_servers."+name+"="+s[name].toml())
		}
		return flags, nil
	case "gemini", "opencode":
		return nil, nil
	}
	return nil, fmt.Errorf("the agent %s takes no MCP servers: use amp, claude, codex, copilot, gemini or opencode", agent)
}

// Settings returns the servers as the settings file of Gemini CLI or opencode has them;
// empty where there are none.
func (s Servers) Settings(agent string) map[string]any {
	if len(s) == 0 {
		return nil
	}
	key, form := "mcpServers", Server.forGemini
	if agent == "opencode" {
		key, form = "mcp", Server.forOpencode
	}
	all := map[string]any{}
	for name, server := range s {
		all[name] = form(server)
	}
	return map[string]any{key: all}
}

func (s Server) forGemini() any {
	own := struct {
		Server
		HTTP  string `json:"httpUrl,omitempty"` // url is for servers of the type sse
		Trust bool   `json:"trust"`             // its tools run unasked
	}{Server: s, Trust: true}
	if s.Type != "sse" {
		own.HTTP, own.URL = s.URL, ""
	}
	own.Type = ""
	return own
}

func (s Server) forOpencode() any {
	own := struct {
		Type    string            `json:"type"`
		Command []string          `json:"command,omitempty"`
		Env     map[string]string `json:"environment,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Enabled bool              `json:"enabled"`
	}{"local", append([]string{s.Command}, s.Args...), s.Env, s.URL, s.Headers, true}
	if s.URL != "" {
		own.Type, own.Command = "remote", nil
	}
	return own
}

func (s Servers) forCopilot() Servers {
	all := Servers{}
	for name, server := range s {
		if server.Command != "" {
			server.Type = "local"
		} else if server.Type == "" {
			server.Type = "http"
		}
		server.Tools = []string{"*"}
		all[name] = server
	}
	return all
}

// toml returns the server as Codex's configuration has it: JSON's strings and lists are TOML's.
func (s Server) toml() string {
	var fields []string
	add := func(key, value string) { fields = append(fields, key+"="+value) }
	if s.Command != "" {
		add("command", encode(s.Command))
		add("args", encode(append([]string{}, s.Args...)))
		add("env_vars", encode(environ.Network())) // the way out of the sandbox, which Codex keeps from servers
	} else {
		add("url", encode(s.URL))
	}
	for key, table := range map[string]map[string]string{"env": s.Env, "http_headers": s.Headers} {
		if len(table) == 0 {
			continue
		}
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(table)) {
			pairs = append(pairs, encode(name)+"="+encode(table[name]))
		}
		add(key, "{"+strings.Join(pairs, ",")+"}")
	}
	slices.Sort(fields)
	return "{" + strings.Join(fields, ",") + "}"
}

func encode(v any) string {
	data, _ := json.Marshal(v) // strings, and maps and lists of them, have no error
	return string(data)
}
