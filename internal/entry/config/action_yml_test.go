package config_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/entry/config"
)

// offered returns the inputs of action.yml, with their defaults.
func offered(t *testing.T) map[string]struct{ Default string } {
	t.Helper()
	return offeredBy(t, "../../../action.yml")
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

// action.yml has exactly the inputs that ReadInputs reads.
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
