package config_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/config"
)

// offered are the inputs of action.yml, with their defaults.
func offered(t *testing.T) map[string]struct{ Default string } {
	t.Helper()
	return offeredBy(t, "../../action.yml")
}

func offeredBy(t *testing.T, file string) map[string]struct{ Default string } {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	return action.Inputs
}

// action.yml offers the inputs that are read, and no others: one that does
// nothing would be a promise nobody keeps.
func TestActionOffersWhatIsRead(t *testing.T) {
	inputs := offered(t)
	var read []string
	_, err := config.ReadInputs(func(name string) string {
		read = append(read, name)
		return inputs[name].Default
	})
	if err != nil {
		t.Fatalf("the defaults of action.yml are refused: %v", err)
	}
	slices.Sort(read)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(inputs)), slices.Compact(read)); diff != "" {
		t.Errorf("inputs (-offered +read):\n%s", diff)
	}
}

// docs/inputs.md has a row for each input, with its default.
func TestDocsListTheInputs(t *testing.T) {
	page, err := os.ReadFile("../../docs/inputs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Inputs\n")
	table, _, _ = strings.Cut(table, "\n## Outputs\n")
	for name, input := range offered(t) {
		told, found := row(table, name)
		if !found {
			t.Errorf("no row tells of %s", name)
		}
		if name != "github-token" && input.Default != "" && !strings.Contains(told, "`"+input.Default+"`") {
			t.Errorf("the default of %s is %q, and its row has %q", name, input.Default, told)
		}
	}
}

// row is what a table has for the default of an input: in the row that begins
// with it, or else in the one that speaks of it.
func row(table, name string) (told string, found bool) {
	for line := range strings.Lines(table) {
		cells := strings.SplitN(line, "|", 4)
		if len(cells) < 4 || !strings.Contains(line, "`"+name+"`") {
			continue
		}
		if strings.Contains(cells[1], "`"+name+"`") {
			return cells[2], true
		}
		told, found = cells[2], true
	}
	return told, found
}
