package config_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/entry/config"
)

func readsSettings(text string) error {
	_, err := config.ReadSettings(config.File{Name: "settings.json", Data: []byte(text)})
	return err
}

func readsPlan(text string) error {
	_, err := plan.Read("prd.json", []byte(text))
	return err
}

// An editor with the schema reports the same errors as the program.
func TestSettingsSchemaAgreesWithTheReader(t *testing.T) {
	var modes []string
	for _, mode := range sandbox.Names("docker") {
		modes = append(modes, `{"sandbox": {"mode": "`+mode+`"}}`)
	}
	agree(t, "../../../schema/settings.schema.json", readsSettings, corpus{
		good: append(modes,
			`{}`,
			`{"$schema": "settings.schema.json", "maximumIterations": 0, "outputTruncateChars": 1e3, "streamAgentOutput": false}`,
			`{"agent": {}}`, `{"agent": {"command": "claude --fast", "flags": ["--model opus"], "model": "m", "timeout": 1.5}}`,
			`{"agent": {"timeout": "90"}}`, `{"agent": {"timeout": "1h30m"}}`, `{"agent": {"timeout": ".5s"}}`, `{"agent": {"timeout": "1.µs"}}`,
			`{"agent": {"prices": {}}}`, `{"agent": {"prices": {"m": {"input": 1.5, "output": 0}, "n": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 3}}}}`,
			`{"guardrails": []}`, `{"guardrails": [{"command": "make", "failAction": "APPEND", "hint": "", "timeout": 0}]}`,
			`{"scm": {"command": "git", "tasks": ["commit", "push"]}}`, `{"scm": {"command": "git"}}`,
			`{"limits": {"maxCost": 0, "maxTime": "2h", "maxTokens": 1000000, "stallAfter": 3}}`,
			`{"protect": ["**/*.go"], "setup": ["npm ci"], "sandbox": {"mode": "none", "allowDomains": ["a.example:443"], "allowModels": ["gpt-6.2-sol", "claude-haiku-*", "*"]}}`,
		),
		bad: []string{
			`[]`, `null`, `{"unknown": 1}`, `{"maximumIterations": -1}`, `{"maximumIterations": 1.5}`, `{"maximumIterations": "5"}`,
			`{"maximumIterations": 1e10}`, `{"completionResponse": " "}`, `{"streamAgentOutput": 1}`, `{"agent": {"flags": [""]}}`,
			`{"agent": {"timeout": -1}}`, `{"agent": {"timeout": "-1s"}}`, `{"agent": {"timeout": "soon"}}`, `{"agent": {"timeout": "inf"}}`,
			`{"agent": {"timeout": "0x1p4"}}`, `{"agent": {"timeout": ""}}`, `{"agent": {"timeout": 1e10}}`, `{"agent": {"timeout": true}}`,
			`{"agent": {"prices": []}}`, `{"agent": {"prices": {"m": {"input": 1}}}}`, `{"guardrails": [null]}`, `{"guardrails": [{"command": "make"}]}`,
			`{"guardrails": [{"command": "make", "failAction": "IGNORE"}]}`, `{"scm": "git"}`, `{"limits": {"maxCost": -1}}`, `{"limits": {"stallAfter": 0.5}}`,
			`{"sandbox": {"mode": "full"}}`, `{"sandbox": {"allowDomains": ["http://a/"]}}`, `{"sandbox": {"allowModels": ["claude haiku"]}}`,
		},
	})
}

func TestPRDSchemaAgreesWithTheReader(t *testing.T) {
	const story = `{"id": "US-001", "title": "one", "acceptanceCriteria": ["works"]}`
	with := func(extra string) string {
		return `{"userStories": [` + strings.TrimSuffix(story, "}") + ", " + extra + `}]}`
	}
	many := strings.Repeat(story+",", 200) + story
	agree(t, "../../../schema/prd.schema.json", readsPlan, corpus{
		good: []string{
			`{"userStories": [` + story + `]}`,
			`{"project": "", "branchName": "ralph/x", "description": "", "verifyCommands": ["make"], "userStories": [` + story + `], "ownKeys": {}}`,
			with(`"description": "", "priority": -1, "passes": true, "notes": "", "dependsOn": []`), with(`"estimate": [1]`),
		},
		bad: []string{
			`[]`, `{}`, `{"userStories": []}`, `{"userStories": {}}`, `{"userStories": ["US-001"]}`, `{"userStories": [{}]}`, `{"userStories": [` + many + `]}`,
			`{"userStories": null}`, `{"project": 7, "userStories": [` + story + `]}`, `{"verifyCommands": [" "], "userStories": [` + story + `]}`,
			`{"userStories": [{"id": " ", "title": "one", "acceptanceCriteria": ["works"]}]}`,
			`{"userStories": [{"id": "US-001", "title": "two\nlines", "acceptanceCriteria": ["works"]}]}`,
			`{"userStories": [{"id": "US-001", "title": "one", "acceptanceCriteria": []}]}`,
			`{"userStories": [{"id": "US-001", "title": "one", "acceptanceCriteria": [""]}]}`,
			`{"userStories": [{"id": "US-001", "title": "one", "acceptanceCriteria": "works"}]}`,
			with(`"priority": "1"`), with(`"priority": 1.5`), with(`"passes": "yes"`), with(`"notes": 5`), with(`"dependsOn": "US-000"`), with(`"dependsOn": [""]`),
		},
	})
}

// corpus has texts that reader and schema accept, and texts that both refuse.
type corpus struct{ good, bad []string }

func agree(t *testing.T, path string, read func(string) error, c corpus) {
	t.Helper()
	schema := compile(t, path)
	for i, text := range slices.Concat(c.good, c.bad) {
		want := i < len(c.good)
		if err := read(text); (err == nil) != want {
			t.Errorf("reader accepts %s: %t, want %t (%v)", text, err == nil, want, err)
		}
		if err := schema.Validate(decode(t, text)); (err == nil) != want {
			t.Errorf("schema accepts %s: %t, want %t (%v)", text, err == nil, want, err)
		}
	}
}

func compile(t *testing.T, path string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", decode(t, string(text))); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func decode(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
