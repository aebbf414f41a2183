// Package mcp reads which MCP servers a project allows its agents. It takes a file in the
// form of Claude Code's .mcp.json and the names of servers in it, and returns the flags
// or settings by which an agent CLI starts them. The servers run where the agent runs.
package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
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

// Flags give an agent CLI the servers. Others that speak the Agent Client Protocol get ForACP instead.
func (s Servers) Flags(agent string) ([]string, error) {
	switch agent {
	case "claude":
		return []string{"--strict-mcp-config", "--mcp-config", encode(map[string]any{"mcpServers": s})}, nil
	case "copilot": // of a session it takes none that are programs
		type server struct {
			Server
			Tools []string `json:"tools"`
		}
		all := map[string]server{}
		for name, given := range s {
			given.Type = cmp.Or(given.Type, "http")
			if given.Command != "" {
				given.Type = "local"
			}
			all[name] = server{given, []string{"*"}}
		}
		return []string{"--additional-mcp-config", encode(map[string]any{"mcpServers": all})}, nil
	case "amp":
		return []string{"--mcp-config", encode(s)}, nil
	case "codex":
		var flags []string
		for _, name := range slices.Sorted(maps.Keys(s)) {
			flags = append(flags, "-c", "mcp_servers."+name+"="+s[name].toml())
		}
		return flags, nil
	case "command", "scripted":
		return nil, fmt.Errorf("the agent %s takes no MCP servers: use another agent", agent)
	}
	return nil, nil
}

// ACPServer is a server as the Agent Client Protocol has it.
type ACPServer struct {
	Type    string    `json:"type,omitempty"`
	Name    string    `json:"name"`
	Command string    `json:"command,omitempty"`
	Args    []string  `json:"args"`
	Env     []ACPPair `json:"env"`
	URL     string    `json:"url,omitempty"`
	Headers []ACPPair `json:"headers,omitempty"`
}

// ACPPair is a variable or a header.
type ACPPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ForACP returns the servers for a session of the Agent Client Protocol.
func (s Servers) ForACP() []ACPServer {
	all := []ACPServer{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		server := s[name]
		converted := ACPServer{
			Name:    name,
			Command: server.Command,
			Args:    append([]string{}, server.Args...),
			Env:     acpPairs(server.Env),
		}
		if server.URL != "" {
			converted.Type = cmp.Or(server.Type, "http")
			converted.URL = server.URL
			converted.Headers = acpPairs(server.Headers)
		}
		all = append(all, converted)
	}
	return all
}

func acpPairs(values map[string]string) []ACPPair {
	pairs := []ACPPair{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, ACPPair{name, values[name]})
	}
	return pairs
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
