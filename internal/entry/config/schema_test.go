package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
)

// A test generates the schemas, because the program does not need them.
var schemas = map[string]func(*testing.T) *jsonschema.Schema{
	"../../../schema/settings.schema.json": settingsSchema,
	"../../../schema/prd.schema.json":      prdSchema,
}

func TestSchemasAreFresh(t *testing.T) {
	for path, build := range schemas {
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(build(t)); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s is stale, run go test with -update (-it +types):\n%s", path, diff)
		}
	}
}

func TestSchemaDefaultsAreTheReaders(t *testing.T) {
	var defaults map[string]any
	if err := json.Unmarshal([]byte(marshal(t, read(t))), &defaults); err != nil {
		t.Fatal(err)
	}
	root := settingsSchema(t)
	for key := root.Properties.Oldest(); key != nil; key = key.Next() {
		if key.Value.Default == nil {
			continue
		}
		said, err := json.Marshal(key.Value.Default)
		if err != nil {
			t.Fatal(err)
		}
		meant, err := json.Marshal(defaults[key.Key])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(said, meant) {
			t.Errorf("default of %s = %s, want %s", key.Key, said, meant)
		}
	}
}

func settingsSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	root := commented(t, config.Settings{})
	root.Title = "ralph: .ralph/settings.json and settings.local.json"
	return root
}

// commented returns the schema of a type, with its comments.
func commented(t *testing.T, value any) *jsonschema.Schema {
	t.Helper()
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, Mapper: duration,
	}
	for _, dir := range []string{"../config", "../../core/policy"} {
		if err := r.AddGoComments("github.com/ralph-loop/ralph/internal/entry/config", dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.ReplaceAll(comment, "\n", " ")
	}
	return r.Reflect(value)
}

// duration returns the schema of policy.Duration, which its Go type does not show.
func duration(t reflect.Type) *jsonschema.Schema {
	if t != reflect.TypeFor[policy.Duration]() {
		return nil
	}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "number", Minimum: "0", Maximum: "9000000000", Title: "seconds"},
		{
			Type: "string", Title: "with units", Examples: []any{"90s", "1h30m"},
			Pattern: `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
		},
	}}
}

// prdWords has the descriptions of the keys of a plan.
var prdWords = map[string]string{
	"Project":            "Name of the project.",
	"BranchName":         "Branch for the work.",
	"Description":        "What to build, in a few sentences.",
	"VerifyCommands":     "Checks besides the project's own; exit code 0 is a pass.",
	"UserStories":        "Pieces of work, each small enough for one iteration.",
	"ID":                 "Unique name of the story, such as US-001.",
	"Title":              "Title, on one line.",
	"AcceptanceCriteria": "Conditions that are true when the story is done, at least one.",
	"Priority":           "The story with the lowest number is first (default: position in the list).",
	"Passes":             "Whether the story is done. Only ralph sets it; an agent's value is a claim.",
	"Notes":              "What was done, or what prevents it.",
	"DependsOn":          "Ids of the stories that must pass first.",
	"TestedBy":           "Name of the test of each criterion, in order; empty: no test. ralph checks that the test failed before and passes now.",
	"MayChangeTests":     "true: existing tests may fail, because the story changes what they expect. Only people can set it; ralph undoes an agent's change.",
	"NeedsTest":          "false: the story needs no test, such as a change of documents. Only people can set it; ralph undoes an agent's change.",
}

func prdSchema(*testing.T) *jsonschema.Schema {
	const oneLine = `^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$`
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, AllowAdditionalProperties: true,
		LookupComment: func(_ reflect.Type, field string) string { return prdWords[field] },
	}
	root := r.Reflect(plan.Plan{})
	root.Title = "ralph: prd.json"
	root.Required = []string{"userStories"}
	story := root.Definitions["Story"]
	story.Required = []string{"id", "title", "acceptanceCriteria"}
	for object, keys := range map[*jsonschema.Schema][]string{root: {"verifyCommands"}, story: {"acceptanceCriteria", "dependsOn"}} {
		for _, key := range keys {
			object.Properties.Value(key).Items.Pattern = `\S`
		}
	}
	one, many := uint64(1), uint64(200)
	root.Properties.Value("userStories").MinItems = &one
	root.Properties.Value("userStories").MaxItems = &many
	story.Properties.Value("acceptanceCriteria").MinItems = &one
	story.Properties.Value("id").Pattern = oneLine
	story.Properties.Value("title").Pattern = oneLine
	return root
}
