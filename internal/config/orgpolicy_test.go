package config_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// asked returns the inputs of a workflow, by name and value.
func asked(t *testing.T, pairs ...string) config.Inputs {
	t.Helper()
	in, err := config.ReadInputs(func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// A repository cannot exceed the policy of its organisation.
func TestFloorHolds(t *testing.T) {
	const all = `{"maxCost": 3, "maxCostPerDay": 20, "sandbox": "notify", "agents": ["claude", "codex"], "allowDomains": ["npm.example.com"]}`
	for name, c := range map[string]struct {
		policy string
		inputs []string
		want   string // what is refused; empty: nothing
	}{
		"less of everything":        {all, []string{"agent", "claude", "allow-domains", "NPM.example.com", "sandbox", "namespace"}, ""},
		"nothing said":              {all, []string{"agent", "codex"}, ""},
		"no policy":                 {`{}`, []string{"agent", "amp", "sandbox", "none", "allow-domains", "evil.example.com", "agent-command", "./mine"}, ""},
		"another agent":             {all, []string{"agent", "amp"}, "agent amp"},
		"a program of its own":      {all, []string{"agent", "claude", "agent-command", "./mine"}, "agent-command command"},
		"a reviewer of its own":     {all, []string{"agent", "claude", "review-agent", "amp"}, "review-agent amp"},
		"another host":              {all, []string{"agent", "claude", "allow-domains", "evil.example.com"}, "allow-domains evil.example.com"},
		"a host, for setup":         {all, []string{"agent", "claude", "setup-domains", "evil.example.com"}, "setup-domains evil.example.com"},
		"a host at home":            {all, []string{"agent", "claude", "private-hosts", "home.example.com"}, "private-hosts home.example.com"},
		"a model elsewhere":         {all, []string{"agent", "claude", "model-base-url", "https://me:secret@evil.example.com/v1"}, "model-base-url evil.example.com"},
		"a model nowhere":           {all, []string{"agent", "claude", "model-base-url", "evil.example.com"}, "model-base-url not an address"},
		"a model where it may be":   {all, []string{"agent", "claude", "model-base-url", "https://npm.example.com:443/v1"}, ""},
		"no host at all":            {`{"allowDomains": []}`, []string{"allow-domains", "npm.example.com"}, "allow-domains npm.example.com"},
		"a service elsewhere":       {all, []string{"agent", "claude", "services", "5432 localhost:6379 db.example.com:5433"}, "services db.example.com:5433"},
		"services on this machine":  {all, []string{"agent", "claude", "services", "5432 localhost:6379 127.0.0.7:5433"}, ""},
		"a weaker level":            {`{"sandbox": "namespace"}`, []string{"sandbox", "notify"}, "sandbox notify"},
		"no sandbox":                {all, []string{"agent", "claude", "sandbox", "none"}, "sandbox none"},
		"somebody else's sandbox":   {all, []string{"agent", "claude", "sandbox", "external"}, ""},
		"somebody else's, too weak": {`{"sandbox": "namespace"}`, []string{"sandbox", "external"}, "sandbox external"},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := config.ReadOrgPolicy("acme", []byte(c.policy))
			if err != nil {
				t.Fatal(err)
			}
			in := asked(t, c.inputs...)
			_, err = policy.Enforce("acme", &in)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), "than acme allows: "+c.want)):
				t.Errorf("refused as %v, want %q", err, c.want)
			case err != nil && !strings.Contains(fault.Hint(err), "ralph.json in acme/.github"):
				t.Errorf("the remedy is %q", fault.Hint(err))
			}
		})
	}
}

// Higher costs are lowered to the policy, with a note. Lower ones stay.
func TestFloorLowers(t *testing.T) {
	policy, err := config.ReadOrgPolicy("acme", []byte(`{"$schema": "orgpolicy.schema.json", "maxCost": 3, "maxCostPerDay": 20, "sandbox": "namespace"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		inputs   []string
		run, day float64
		notes    int
	}{
		"the defaults":  {nil, 3, 20, 2},
		"no limits":     {[]string{"max-cost", "0", "max-cost-per-day", "0"}, 3, 20, 2},
		"less than all": {[]string{"max-cost", "2", "max-cost-per-day", "10"}, 2, 10, 0},
	} {
		in := asked(t, c.inputs...)
		notes, err := policy.Enforce("acme", &in)
		if err != nil || in.Policy.Limits.CostUSD != c.run || in.Quota.USD != c.day || len(notes) != c.notes {
			t.Errorf("%s: %g a run and %g a day, notes %q, %v", name, in.Policy.Limits.CostUSD, in.Quota.USD, notes, err)
		}
		if in.Sandbox.Level != sandbox.Namespace {
			t.Errorf("%s: the level is %s", name, in.Sandbox.Level)
		}
	}
}

// Anything unknown in a policy is an error, because it may be a limit.
func TestFloorThatCannotBeRead(t *testing.T) {
	for _, text := range []string{`{"maxcosts": 3}`, `nonsense`, `{"maxCost": -1}`, `{"maxCost": "3"}`, `{"sandbox": "auto"}`, `{"sandbox": "strong"}`, `{} {}`, ``, `null`, `{"sandbox": null}`, `{"maxCost": 3, "maxcost": 0}`} {
		if _, err := config.ReadOrgPolicy("acme", []byte(text)); err == nil || !strings.Contains(fault.Hint(err), "fix ralph.json in acme/.github") {
			t.Errorf("%s is read as %v", text, err)
		}
	}
}

// An invalid policy is an error, and never a panic.
func FuzzReadOrgPolicy(f *testing.F) {
	f.Add([]byte(`{"maxCost": 3, "maxCostPerDay": 20, "sandbox": "namespace", "agents": ["claude"], "allowDomains": []}`))
	f.Add([]byte("\uFEFF" + `{"maxCost": -1, "maxCost": 1e999, "agents": [], "allowDomains": ["*", "https://u:p@x/", "\u0000"]}`))
	f.Add([]byte(`{"sandbox": ["none"], "Sandbox": "none", "unknown": {"a": [null]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		policy, err := config.ReadOrgPolicy("acme", data)
		if err != nil {
			return
		}
		if !json.Valid(bytes.TrimPrefix(data, []byte("\uFEFF"))) {
			t.Errorf("%q is read as %+v", data, policy)
		}
		_, _ = policy.Enforce("acme", &config.Inputs{})
	})
}
