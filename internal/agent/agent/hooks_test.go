package agent_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

type hookGroups map[string][]struct {
	Matcher string `json:"matcher"`
	Hooks   []struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	} `json:"hooks"`
}

func readHooks(t *testing.T, text []byte) hookGroups {
	t.Helper()
	var settings struct {
		Hooks hookGroups `json:"hooks"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	for _, groups := range settings.Hooks {
		for _, hook := range groups[0].Hooks {
			words := strings.Fields(hook.Command)
			groups[0].Hooks[0].Command = words[len(words)-1]
		}
	}
	return settings.Hooks
}

// The hooks of ralph's own runs are those of the plugin, but that they name
// this very program.
func TestHooksAreThePlugins(t *testing.T) {
	adapter, err := agent.Pick("claude", agent.Options{Hooks: true, Self: "/opt/my tools/ralph"})
	if err != nil {
		t.Fatal(err)
	}
	argv := adapter.Argv(agent.Order{})
	at := slices.Index(argv, "--settings") + 1
	if at == 0 || !adapter.CallsHooks || !strings.Contains(argv[at], `"'/opt/my tools/ralph' hook stop"`) {
		t.Fatalf("guarded %v, argv %q", adapter.CallsHooks, argv)
	}
	plugin, err := os.ReadFile("../../../plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readHooks(t, plugin), readHooks(t, []byte(argv[at]))); diff != "" {
		t.Errorf("hooks (-plugin +run):\n%s", diff)
	}
}
