package config_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/entry/config"
)

// action.yml has exactly the inputs that ReadInputs reads.
func TestActionOffersWhatIsRead(t *testing.T) {
	var action struct {
		Inputs map[string]struct{ Default string }
	}
	if err := yaml.Unmarshal([]byte(page(t, "../../../action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	var read []string
	_, err := config.ReadInputs(func(name string) string {
		read = append(read, name)
		return action.Inputs[name].Default
	})
	if err != nil {
		t.Fatalf("the defaults of action.yml are refused: %v", err)
	}
	slices.Sort(read)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(action.Inputs)), slices.Compact(read)); diff != "" {
		t.Errorf("inputs (-offered +read):\n%s", diff)
	}
}
