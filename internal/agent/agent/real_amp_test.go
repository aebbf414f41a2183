package agent_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// Amp asks its own server alone, so all that can be looked at here is whether
// the real program still takes the flags it is given: some of them its help
// passes over.
func TestRealAmpTakesItsFlags(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	c := cli{T: t, agent: "amp"}
	adapter, err := agent.Pick("amp", agent.Options{Command: "'" + c.path() + "'", Keys: agent.Keys{ProviderAPIKey: realKey}})
	if err != nil {
		t.Fatal(err)
	}
	argv := adapter.Argv(agent.Order{Model: "smart", Prompt: "do it"})
	start := argv[1:slices.Index(argv, "-x")]
	if len(start) < 4 {
		t.Fatalf("amp gets %q before the prompt, want three flags", start)
	}
	for _, test := range []struct {
		flags []string
		taken bool
	}{{start, true}, {append(slices.Clone(start), "--no-such-flag"), false}} {
		cmd := exec.CommandContext(t.Context(), c.path(), append(test.flags, "version")...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()} // and no key: no server is to be asked
		if out, err := cmd.CombinedOutput(); (err == nil) != test.taken {
			t.Errorf("amp %q: %v, want taken: %v\n%s", test.flags, err, test.taken, out)
		}
	}
	t.Logf("measured: amp | %s | takes its flags", c.version())
}
