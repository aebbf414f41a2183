package config_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
)

// Every key of the settings has a row in docs/settings.md with the type, description and
// default of the schema.
func TestSettingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := cellsOf(line); len(cells) == 4 {
			rows[strings.Trim(cells[0], "`")] = cells
		}
	}
	if readme, err := os.ReadFile("../../../docs/README.md"); err != nil || !strings.Contains(string(readme), "(settings.md)") {
		t.Errorf("docs/README.md does not link settings.md (%v)", err)
	}
	root := settingsSchema(t)
	for path, key := range keysOf(root, root, "") {
		cells, is := rows[path]
		if !is {
			t.Errorf("docs/settings.md has no row of %s, for example:\n%s", path, rowOf(path, key))
			continue
		}
		delete(rows, path)
		if proposed := rowOf(path, key); len(cellsOf(proposed)) != 4 {
			t.Errorf("the proposed row of %s would be refused: %s", path, proposed)
		}
		if diff := cmp.Diff([]string{kindOf(key), key.Description}, []string{cells[1], cells[3]}); diff != "" {
			t.Errorf("row of %s in docs/settings.md:\n%s", path, diff)
		}
		if said := fmt.Sprintf("`%v`", key.Default); key.Default != nil && !strings.HasPrefix(cells[2], said) {
			t.Errorf("docs/settings.md has %s by default as %s, want %s", path, cells[2], said)
		}
	}
	for path := range rows {
		t.Errorf("docs/settings.md has a row of %s, which is no key", path)
	}
}

// cellsOf returns the cells of a key's row, and nothing for another line.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "| `") {
		return nil
	}
	return strings.Split(strings.Trim(line, "| \n"), " | ")
}

// rowOf returns a row for a key that has none.
func rowOf(path string, key *jsonschema.Schema) string {
	standard := "–"
	if key.Default != nil {
		standard = fmt.Sprintf("`%v`", key.Default)
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", path, kindOf(key), standard, key.Description)
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
