package config_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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

// An editor with the schema reports the same errors as the program. Both read the tags of the settings; the form of a
// duration is in each of them.
func TestSettingsSchemaAgreesWithTheReader(t *testing.T) {
	agree(t, "../../../schema/settings.schema.json", readsSettings, corpus{
		good: []string{
			`{}`, `{"$schema": "settings.schema.json", "maximumIterations": 0, "outputTruncateChars": 1e3, "sandbox": {"mode": "docker"}}`,
			`{"agent": {"timeout": 1.5}}`, `{"agent": {"timeout": "90"}}`, `{"agent": {"timeout": "1h30m"}}`, `{"agent": {"timeout": ".5s"}}`,
			`{"agent": {"timeout": "1.µs", "prices": {"m": {"input": 1.5, "output": 0, "cacheRead": 0}}}}`,
		},
		bad: []string{
			`[]`, `null`, `{"unknown": 1}`, `{"maximumIterations": 1.5}`, `{"sandbox": {"mode": "full"}}`, `{"guardrails": [{"command": "make"}]}`,
			`{"agent": {"timeout": -1}}`, `{"agent": {"timeout": "-1s"}}`, `{"agent": {"timeout": "soon"}}`, `{"agent": {"timeout": "inf"}}`,
			`{"agent": {"timeout": "0x1p4"}}`, `{"agent": {"timeout": ""}}`, `{"agent": {"timeout": 1e10}}`, `{"agent": {"timeout": true}}`,
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
