package config_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

// docs/settings.md has a row for each key, with the type, default and description of the schema.
func TestSettingsAreDocumented(t *testing.T) {
	text, root := page(t, "../../../docs/settings.md"), settingsSchema(t)
	keys := keysOf(root, root, "")
	for path, key := range keys {
		begin := fmt.Sprintf("\n| `%s` | %s | ", path, kindOf(key))
		if key.Default != nil {
			begin += fmt.Sprintf("`%v`", key.Default)
		}
		_, rest, _ := strings.Cut(text, begin)
		row, _, _ := strings.Cut(rest, "\n")
		if !strings.HasSuffix(row, " | "+key.Description+" |") {
			t.Errorf("docs/settings.md has no row%s… | %s |", begin, key.Description)
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != len(keys) {
		t.Errorf("docs/settings.md has %d rows for %d keys", rows, len(keys))
	}
}

// keysOf returns the keys of an object and of the objects in it, by path.
func keysOf(root, object *jsonschema.Schema, above string) map[string]*jsonschema.Schema {
	keys := map[string]*jsonschema.Schema{}
	for key := object.Properties.Oldest(); key != nil; key = key.Next() {
		path, value := above+key.Key, key.Value
		keys[path] = value
		switch {
		case value.Items != nil && value.Items.Ref != "":
			path, value = path+"[]", value.Items
		case value.AdditionalProperties != nil:
			path, value = path+".MODEL", value.AdditionalProperties
		}
		if inner := root.Definitions[strings.TrimPrefix(value.Ref, "#/$defs/")]; inner != nil {
			maps.Copy(keys, keysOf(root, inner, path+"."))
		}
	}
	return keys
}

// kindOf returns the type of a key for the table.
func kindOf(key *jsonschema.Schema) string {
	switch {
	case len(key.Enum) > 0:
		var words []string
		for _, word := range key.Enum {
			words = append(words, fmt.Sprintf("`%v`", word))
		}
		return strings.Join(words, ", ")
	case len(key.OneOf) > 0:
		return "duration"
	case key.Items != nil && key.Items.Ref != "":
		return "list of objects"
	case key.Items != nil:
		return "list of strings"
	case key.Ref != "":
		return "object"
	}
	return key.Type
}
