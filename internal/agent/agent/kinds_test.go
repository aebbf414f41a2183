package agent_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/agentfiles"
)

// Each agent of the table can start in a job with the key that its hint asks for, and has its row in the documentation,
// in package agentfiles, in action.yml and, if npm has it, in tools/agents and tools/image.
func TestEachAgentHasItsRows(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile("../../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var pins struct{ DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(read("tools/agents/package.json")), &pins); err != nil {
		t.Fatal(err)
	}
	docs, action, image := read("docs/agents.md"), read("action.yml"), read("tools/image/agents.sh")
	_, line, _ := strings.Cut(action, "\n  agent: ")
	line, _, _ = strings.Cut(line, "\n")
	options := complete("")
	for _, name := range agent.Names() {
		if name == "scripted" {
			continue
		}
		options.Command = ""
		if name == "acp" || name == "command" {
			options.Command = "any"
		}
		options.Model = "anthropic/m" // for opencode
		adapter, err := agent.Pick(name, options)
		if err != nil {
			t.Errorf("%s does not start in a job: %v", name, err)
			continue
		}
		if _, is := agentfiles.Of(name); !is && options.Command == "" {
			t.Errorf("package agentfiles has no row of %s", name)
		}
		if !strings.Contains(docs, "\n| `"+name+"` |") {
			t.Errorf("docs/agents.md has no row of %s", name)
		}
		if !slices.Contains(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,.:\"", r) }), name) {
			t.Errorf("the input agent in action.yml does not name %s", name)
		}
		if adapter.Package != "" && !strings.Contains(image, "\n    "+name+") package=") {
			t.Errorf("no image can be built with %s", name)
		}
		pin := adapter.Package
		if name == "amp" {
			pin = "@sourcegraph/amp" // whose package installs the other
		}
		if pin != "" && (adapter.Tested == "" || pins.DevDependencies[pin] != adapter.Tested) {
			t.Errorf("%s was tested with %q, and make agents installs %q", name, adapter.Tested, pins.DevDependencies[pin])
		}
	}
}
